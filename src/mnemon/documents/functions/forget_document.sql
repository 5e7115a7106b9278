-- Forgets what a document's runs and jobs say about it, ends those that are under way, and destroys the key that the
-- log's events about it are sealed with. The event that says so is appended before, in the same transaction: appends
-- lock the head of the partition first, then keys. FOR UPDATE waits for those that hold the key.
CREATE OR REPLACE FUNCTION mnemon.forget_document(document uuid) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    tenant  uuid := mnemon.current_tenant();
    subject text := 'document:' || document;
    run     record;
BEGIN
    PERFORM FROM mnemon.subject_keys k
      WHERE k.tenant_id = tenant AND k.subject_id = subject AND k.destroyed_at IS NULL FOR UPDATE;
    UPDATE mnemon.subject_keys k SET key_id = NULL, wrapped_key = NULL, destroyed_at = clock_timestamp()
     WHERE k.tenant_id = tenant AND k.subject_id = subject AND k.destroyed_at IS NULL;
    FOR run IN SELECT r.run_id, r.job_id FROM mnemon.ingestion_runs r
                WHERE r.tenant_id = tenant AND r.doc_id = document
    LOOP
        UPDATE mnemon.jobs j
           SET status = 'FAILED', next_run_at = NULL, lease_token = NULL, lease_until = NULL,
               last_error_code = 'DOCUMENT_PURGED', last_error_message = 'The document was purged.',
               finished_at = clock_timestamp(), updated_at = clock_timestamp()
         WHERE j.tenant_id = tenant AND j.job_id = run.job_id AND j.status IN ('PENDING', 'PROCESSING');
        IF FOUND THEN
            PERFORM pg_notify('mnemon_jobs_cancelled', run.job_id::text);
        END IF;
        UPDATE mnemon.jobs j
           SET last_error_message = CASE WHEN j.last_error_message IS NULL OR j.last_error_code = 'DOCUMENT_PURGED'
                                         THEN j.last_error_message ELSE '[REDACTED]' END,
               errors = (SELECT coalesce(jsonb_agg(one.value || '{"message": "[REDACTED]"}'), '[]')
                           FROM jsonb_array_elements(j.errors) AS one)
         WHERE j.tenant_id = tenant AND j.job_id = run.job_id;
        UPDATE mnemon.ingestion_runs r
           SET config = r.config - '{title,original_filename,content_hash,source_uri,tags,told}'::text[],
               error = CASE WHEN r.error IS NULL OR r.error_code = 'DOCUMENT_PURGED' THEN r.error ELSE '[REDACTED]' END
         WHERE r.tenant_id = tenant AND r.run_id = run.run_id;
    END LOOP;
    PERFORM pg_notify('mnemon_privacy', json_build_object('tenant', tenant, 'subject', subject)::text);
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.forget_document FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.forget_document TO mnemon_app;
