-- An import is what its job is: claimed, finished, failed, rescued, cancelled or retried by whoever, it changes in the
-- same transaction. That it failed is a fact for the log, which only a program can write: a job is left to do so.
CREATE OR REPLACE FUNCTION mnemon.move_import_with_job() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    UPDATE mnemon.mail_imports r
       SET job_id = NEW.job_id,
           status = CASE NEW.status WHEN 'PENDING' THEN 'queued' WHEN 'PROCESSING' THEN 'running'
                                    WHEN 'DONE' THEN 'succeeded' ELSE 'failed' END,
           attempts = NEW.attempts,
           stage = CASE NEW.status WHEN 'FAILED' THEN r.stage END,
           started_at = CASE NEW.status WHEN 'PROCESSING' THEN coalesce(r.started_at, clock_timestamp())
                                        ELSE r.started_at END,
           updated_at = clock_timestamp(),
           finished_at = NEW.finished_at,
           error_code = CASE NEW.status WHEN 'FAILED' THEN NEW.last_error_code END,
           error = CASE NEW.status WHEN 'FAILED' THEN NEW.last_error_message END
     WHERE r.tenant_id = NEW.tenant_id AND r.import_id = (NEW.payload ->> 'import_id')::uuid
       AND (TG_OP = 'INSERT' OR r.job_id = NEW.job_id);
    IF FOUND AND NEW.status = 'FAILED' THEN
        INSERT INTO mnemon.jobs (tenant_id, job_id, kind, payload, max_attempts)
        VALUES (NEW.tenant_id, mnemon.time_ordered_uuid(), 'mail.record_failure',
                jsonb_build_object('import_id', NEW.payload ->> 'import_id'), 20);
        PERFORM pg_notify('mnemon_jobs', 'mail.record_failure');
    END IF;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.move_import_with_job FROM PUBLIC;
