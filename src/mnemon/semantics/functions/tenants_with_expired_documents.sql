-- Which tenants have documents whose time is over. For the job that serves all tenants: only their ids cross.
CREATE OR REPLACE FUNCTION mnemon.tenants_with_expired_documents() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT DISTINCT d.tenant_id FROM documents d
     WHERE d.retention_policy <> 'forever' AND d.purged_at IS NULL AND is_expired(d)
$$;
REVOKE EXECUTE ON FUNCTION mnemon.tenants_with_expired_documents FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.tenants_with_expired_documents TO mnemon_app;
