-- Tenants that are not open in this database: who has moved, is on the way, or has not arrived yet. One that was closed
-- for a move is open again when whoever moves it is gone: their session has this lock. A standby does not see locks of
-- its primary, and waits for what the primary says.
CREATE OR REPLACE FUNCTION mnemon.tenants_away() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT m.tenant_id FROM mnemon.tenant_moves m
     CROSS JOIN hashtextextended('mnemon move of ' || m.tenant_id, 0) AS held
     WHERE m.state <> 'leaving'
       AND (m.state <> 'closed' OR pg_is_in_recovery() OR EXISTS (
               SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
                WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
                  AND l.classid::bigint = (held >> 32) & 4294967295 AND l.objid::bigint = held & 4294967295))
$$;
REVOKE EXECUTE ON FUNCTION mnemon.tenants_away FROM PUBLIC;
