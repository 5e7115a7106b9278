-- Ends jobs that have been due for longer than `patience` while no living worker offered their kind in all that
-- time. A job that waits behind busy workers of its kind is never touched.
CREATE OR REPLACE FUNCTION mnemon.fail_unclaimed_jobs(patience interval, most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    ended integer;
BEGIN
    WITH abandoned AS MATERIALIZED (
        SELECT j.tenant_id, j.job_id FROM mnemon.jobs j
         WHERE j.status = 'PENDING' AND NOT j.delayed AND j.next_run_at < now() - patience
           AND NOT EXISTS (SELECT FROM mnemon.workers w
                            WHERE j.kind = ANY (w.kinds) AND w.heartbeat_at > now() - patience)
           FOR UPDATE SKIP LOCKED LIMIT most)
    UPDATE mnemon.jobs j
       SET status = 'FAILED', next_run_at = NULL, finished_at = clock_timestamp(), updated_at = clock_timestamp(),
           last_error_code = 'NEVER_PICKED_UP',
           last_error_message = format('No worker offered the kind %s for %s; start one, then retry the job.',
                                       j.kind, patience)
      FROM abandoned WHERE j.tenant_id = abandoned.tenant_id AND j.job_id = abandoned.job_id;
    GET DIAGNOSTICS ended = ROW_COUNT;
    RETURN ended;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.fail_unclaimed_jobs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.fail_unclaimed_jobs TO mnemon_app;
