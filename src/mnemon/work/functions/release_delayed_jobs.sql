-- Lets jobs whose time has come take part in the turns.
CREATE OR REPLACE FUNCTION mnemon.release_delayed_jobs(most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    released integer;
BEGIN
    UPDATE mnemon.jobs j SET delayed = false
     WHERE j.ctid = ANY (ARRAY(
           SELECT d.ctid FROM mnemon.jobs d
            WHERE d.status = 'PENDING' AND d.delayed AND d.next_run_at <= now()
            ORDER BY d.next_run_at FOR UPDATE SKIP LOCKED LIMIT most));
    GET DIAGNOSTICS released = ROW_COUNT;
    RETURN released;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.release_delayed_jobs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.release_delayed_jobs TO mnemon_app;
