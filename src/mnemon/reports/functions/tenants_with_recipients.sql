-- Which tenants have somebody who wants to be told of their log. It tells a process where to look, and nothing of whom.
CREATE OR REPLACE FUNCTION mnemon.tenants_with_recipients() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT DISTINCT tenant_id FROM mnemon.recipients WHERE NOT paused
$$;
REVOKE EXECUTE ON FUNCTION mnemon.tenants_with_recipients FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.tenants_with_recipients TO mnemon_app;
