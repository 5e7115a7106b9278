-- Ends the attempts whose lease has run out, whoever held them. The wait before the next try is spread over the
-- whole back-off, so that jobs lost together with one that kills its worker do not meet it again.
CREATE OR REPLACE FUNCTION mnemon.rescue_jobs(most integer)
    RETURNS TABLE (tenant_id uuid, job_id uuid, kind text, locked_by text, status text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
    lost record;
BEGIN
    FOR lost IN
        SELECT j.* FROM mnemon.jobs j
         WHERE j.status = 'PROCESSING' AND j.lease_until < clock_timestamp()
           FOR UPDATE SKIP LOCKED LIMIT most
    LOOP
        tenant_id := lost.tenant_id; job_id := lost.job_id; kind := lost.kind; locked_by := lost.locked_by;
        IF lost.locked_at < pg_postmaster_start_time()
           AND lost.lease_until < pg_postmaster_start_time() + interval '10 seconds' THEN
            -- The server was down: nobody could have kept the lease, and the job has not failed.
            UPDATE mnemon.jobs j
               SET status = 'PENDING', attempts = j.attempts - 1, next_run_at = clock_timestamp(), delayed = false,
                   lease_token = NULL, lease_until = NULL, updated_at = clock_timestamp()
             WHERE j.tenant_id = lost.tenant_id AND j.job_id = lost.job_id;
            status := 'PENDING';
        ELSIF clock_timestamp() > lost.locked_at + make_interval(secs => lost.time_limit_seconds) THEN
            status := mnemon.fail_job(lost.tenant_id, lost.job_id, lost.lease_token, 'TIME_LIMIT', format(
                'The job ran past its limit of %s s and worker %s could not stop it.',
                lost.time_limit_seconds, lost.locked_by), false,
                random() * mnemon.job_backoff(lost.attempts, lost.backoff_seconds, lost.backoff_cap_seconds));
        ELSE
            status := mnemon.fail_job(lost.tenant_id, lost.job_id, lost.lease_token, 'WORKER_LOST', format(
                'Worker %s stopped answering and its lease ran out.', lost.locked_by), false,
                random() * mnemon.job_backoff(lost.attempts, lost.backoff_seconds, lost.backoff_cap_seconds));
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.rescue_jobs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.rescue_jobs TO mnemon_app;
