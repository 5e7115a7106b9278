-- A look at a source is what its job is: whoever claims, finishes, fails, rescues or cancels it changes both.
CREATE OR REPLACE FUNCTION mnemon.move_sync_with_job() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    UPDATE mnemon.source_syncs s
       SET job_id = NEW.job_id,
           status = CASE NEW.status WHEN 'PENDING' THEN 'queued' WHEN 'PROCESSING' THEN 'running'
                                    WHEN 'DONE' THEN 'succeeded' ELSE 'failed' END,
           attempts = NEW.attempts,
           started_at = CASE NEW.status WHEN 'PROCESSING' THEN coalesce(s.started_at, clock_timestamp())
                                        ELSE s.started_at END,
           updated_at = clock_timestamp(),
           finished_at = NEW.finished_at,
           error_code = NEW.last_error_code,
           error = NEW.last_error_message
     WHERE s.tenant_id = NEW.tenant_id AND s.sync_id = (NEW.payload ->> 'sync_id')::uuid
       AND (TG_OP = 'INSERT' OR s.job_id = NEW.job_id);
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.move_sync_with_job FROM PUBLIC;
