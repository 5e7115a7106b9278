-- Cancels a tenant's own job. A cancelled job loses its lease, so a worker that runs it can no longer write.
CREATE OR REPLACE FUNCTION mnemon.cancel_job(job uuid) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    UPDATE mnemon.jobs j
       SET status = 'FAILED', next_run_at = NULL, lease_token = NULL, lease_until = NULL,
           last_error_code = 'CANCELLED', last_error_message = 'The job was cancelled.',
           finished_at = clock_timestamp(), updated_at = clock_timestamp()
     WHERE j.tenant_id = mnemon.current_tenant() AND j.job_id = job AND j.status IN ('PENDING', 'PROCESSING');
    IF FOUND THEN
        PERFORM pg_notify('mnemon_jobs_cancelled', job::text);
    END IF;
    RETURN FOUND;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.cancel_job FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.cancel_job TO mnemon_app;
