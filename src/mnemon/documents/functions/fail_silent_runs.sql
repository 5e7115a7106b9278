-- Ends runs whose worker has been silent for long while no worker that could take them over is alive. Where one is,
-- it gives them another attempt as soon as the lease has run out.
CREATE OR REPLACE FUNCTION mnemon.fail_silent_runs(silence interval, most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    silent record;
    ended  integer := 0;
BEGIN
    IF EXISTS (SELECT FROM mnemon.workers w WHERE 'documents.ingest' = ANY (w.kinds) AND w.stopped_at IS NULL
                  AND w.heartbeat_at > now() - interval '1 minute') THEN
        RETURN 0;
    END IF;
    FOR silent IN
        SELECT j.tenant_id, j.job_id, j.lease_token, j.locked_by FROM mnemon.jobs j
         WHERE j.kind = 'documents.ingest' AND j.status = 'PROCESSING'
           AND j.lease_until < now() AND j.updated_at < now() - silence
           FOR UPDATE SKIP LOCKED LIMIT most
    LOOP
        PERFORM mnemon.fail_job(silent.tenant_id, silent.job_id, silent.lease_token, 'WORKER_LOST', format(
            'The worker %s gave no heartbeat for %s and no other took over: start one, then retry the run.',
            silent.locked_by, silence), true);
        ended := ended + 1;
    END LOOP;
    RETURN ended;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.fail_silent_runs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.fail_silent_runs TO mnemon_app;
