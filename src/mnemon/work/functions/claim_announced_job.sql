-- Takes the one job that a message names, if it waits and is due: the row decides, whatever was delivered how often.
-- No row comes back for a job that another worker has, that has ended, or whose time has not come; that one is
-- announced again when it has.
CREATE OR REPLACE FUNCTION mnemon.claim_announced_job(
    tenant uuid, job uuid, worker text, kinds text[], at_once integer[], lease interval)
    RETURNS TABLE (tenant_id uuid, job_id uuid, kind text, payload text, attempt integer, max_attempts integer,
                   time_limit_seconds double precision, token text, waited_seconds double precision)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    found_job mnemon.jobs;
    most      integer;
BEGIN
    DELETE FROM mnemon.job_announcements a WHERE a.tenant_id = tenant AND a.job_id = job;
    SELECT * INTO found_job FROM mnemon.jobs j
     WHERE j.tenant_id = tenant AND j.job_id = job AND j.status = 'PENDING' AND NOT j.delayed
       AND j.next_run_at <= now() AND j.kind = ANY (kinds)
       FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    most := at_once[array_position(kinds, found_job.kind)];
    IF most IS NOT NULL THEN
        -- As claim_jobs does: count and claim are one step.
        IF NOT pg_try_advisory_xact_lock(hashtextextended('mnemon.jobs/' || found_job.kind, 0))
           OR most <= (SELECT count(*) FROM mnemon.jobs j
                        WHERE j.kind = found_job.kind AND j.status = 'PROCESSING') THEN
            RETURN;
        END IF;
    END IF;
    RETURN QUERY
        UPDATE mnemon.jobs j
           SET status = 'PROCESSING', attempts = j.attempts + 1, next_run_at = NULL,
               locked_by = worker, locked_at = clock_timestamp(), updated_at = clock_timestamp(),
               lease_token = gen_random_uuid(), lease_until = clock_timestamp() + lease
         WHERE j.tenant_id = tenant AND j.job_id = job
     RETURNING j.tenant_id, j.job_id, j.kind, j.payload::text, j.attempts, j.max_attempts, j.time_limit_seconds,
               j.lease_token::text,
               extract(epoch FROM clock_timestamp() - found_job.next_run_at)::double precision;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.claim_announced_job FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.claim_announced_job TO mnemon_app;
