-- A run is what its job is: claimed, finished, failed, rescued, cancelled or retried by whoever, the run changes in the
-- same transaction. That it failed is a fact for the log, which only a program can write: a job is left to do so.
CREATE OR REPLACE FUNCTION mnemon.move_run_with_job() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    UPDATE mnemon.ingestion_runs r
       SET job_id = NEW.job_id,
           status = CASE NEW.status WHEN 'PENDING' THEN 'queued' WHEN 'PROCESSING' THEN 'running'
                                    WHEN 'DONE' THEN 'succeeded' ELSE 'failed' END,
           attempts = NEW.attempts,
           stage = NULL,
           started_at = CASE NEW.status WHEN 'PROCESSING' THEN coalesce(r.started_at, clock_timestamp())
                                        ELSE r.started_at END,
           updated_at = clock_timestamp(),
           finished_at = NEW.finished_at,
           error_code = CASE NEW.status WHEN 'FAILED' THEN NEW.last_error_code END,
           error = CASE NEW.status WHEN 'FAILED' THEN NEW.last_error_message END,
           stats = CASE NEW.status WHEN 'DONE' THEN NEW.result -> 'stats' ELSE r.stats END,
           doc_version_id = CASE NEW.status WHEN 'DONE' THEN (NEW.result ->> 'doc_version_id')::uuid
                                            ELSE r.doc_version_id END
     WHERE r.tenant_id = NEW.tenant_id AND r.run_id = (NEW.payload ->> 'run_id')::uuid
       AND (TG_OP = 'INSERT' OR r.job_id = NEW.job_id);
    IF FOUND AND NEW.status = 'FAILED' THEN
        -- What a long file had come to. A success has removed it where it put all of it to its place.
        DELETE FROM mnemon.run_vectors v
         WHERE v.tenant_id = NEW.tenant_id AND v.run_id = (NEW.payload ->> 'run_id')::uuid;
        DELETE FROM mnemon.run_readings v
         WHERE v.tenant_id = NEW.tenant_id AND v.run_id = (NEW.payload ->> 'run_id')::uuid;
        INSERT INTO mnemon.jobs (tenant_id, job_id, kind, payload, max_attempts, readers)
        VALUES (NEW.tenant_id, mnemon.time_ordered_uuid(), 'documents.record_failure',
                jsonb_build_object('run_id', NEW.payload ->> 'run_id'), 20, NEW.readers);
        PERFORM pg_notify('mnemon_jobs', 'documents.record_failure');
    END IF;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.move_run_with_job FROM PUBLIC;
