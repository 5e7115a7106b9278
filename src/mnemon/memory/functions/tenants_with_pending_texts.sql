-- Which tenants have texts that wait for a vector. It tells a process where to look, and nothing of what is there.
CREATE OR REPLACE FUNCTION mnemon.tenants_with_pending_texts() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT DISTINCT tenant_id FROM mnemon.memory_pending_texts
$$;
REVOKE EXECUTE ON FUNCTION mnemon.tenants_with_pending_texts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.tenants_with_pending_texts TO mnemon_app;
