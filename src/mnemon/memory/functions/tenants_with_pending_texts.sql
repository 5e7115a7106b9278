-- Which tenants have texts that wait for a vector. It tells a process where to look, and nothing of what is there.
-- One whose rows arrive from another database is not open yet.
CREATE OR REPLACE FUNCTION mnemon.tenants_with_pending_texts() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT DISTINCT t.tenant_id FROM mnemon.memory_pending_texts t
     WHERE t.tenant_id NOT IN (SELECT mnemon.tenants_away())
$$;
REVOKE EXECUTE ON FUNCTION mnemon.tenants_with_pending_texts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.tenants_with_pending_texts TO mnemon_app;
