-- Whether a revision is one that the transaction's reader may not see.
CREATE OR REPLACE FUNCTION mnemon.is_hidden(revision uuid) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM document_revisions r
                    WHERE r.tenant_id = current_tenant() AND r.doc_version_id = revision
                      AND r.readers IS NOT NULL AND NOT may_read(r.readers))
$$;
REVOKE EXECUTE ON FUNCTION mnemon.is_hidden FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.is_hidden TO mnemon_app;
