-- Whether the tenant has anything that the transaction's reader may not see: most have not, and pay nothing.
CREATE OR REPLACE FUNCTION mnemon.something_is_hidden() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM document_revisions r
                    WHERE r.tenant_id = current_tenant() AND r.readers IS NOT NULL AND NOT may_read(r.readers))
$$;
REVOKE EXECUTE ON FUNCTION mnemon.something_is_hidden FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.something_is_hidden TO mnemon_app;
