-- For the job that serves all tenants: only their ids cross.
CREATE OR REPLACE FUNCTION mnemon.tenants_with_expired_artifacts() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT DISTINCT a.tenant_id FROM artifacts a WHERE a.retention_policy <> 'forever' AND is_expired(a)
$$;
REVOKE EXECUTE ON FUNCTION mnemon.tenants_with_expired_artifacts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.tenants_with_expired_artifacts TO mnemon_app;
