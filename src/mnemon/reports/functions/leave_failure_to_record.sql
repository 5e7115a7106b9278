-- A stage that failed for good is a fact for the log, which only a program can write: a job is left to do so.
CREATE OR REPLACE FUNCTION mnemon.leave_failure_to_record() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    INSERT INTO mnemon.jobs (tenant_id, job_id, kind, payload, max_attempts)
    VALUES (NEW.tenant_id, mnemon.time_ordered_uuid(), 'reports.record_failure',
            jsonb_build_object('job_id', NEW.job_id), 20);
    PERFORM pg_notify('mnemon_jobs', 'reports.record_failure');
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.leave_failure_to_record FROM PUBLIC;
