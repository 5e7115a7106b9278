-- Destroys the key that a requested erasure asks for. FOR UPDATE waits for the appends that hold it (FOR KEY SHARE),
-- so the count below, in a snapshot of its own, has every event that was ever sealed with it.
CREATE OR REPLACE FUNCTION mnemon.destroy_subject_key(erasure text, approver text) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    tenant uuid := mnemon.current_tenant();
    asked  mnemon.erasures;
BEGIN
    SELECT * INTO asked FROM mnemon.erasures e
     WHERE e.tenant_id = tenant AND e.erasure_id = erasure AND e.status = 'requested' FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'erasure % is not open', erasure USING ERRCODE = 'no_data_found';
    END IF;
    PERFORM FROM mnemon.subject_keys k
      WHERE k.tenant_id = tenant AND k.subject_id = asked.subject_id AND k.destroyed_at IS NULL FOR UPDATE;
    UPDATE mnemon.subject_keys k SET key_id = NULL, wrapped_key = NULL, destroyed_at = clock_timestamp()
     WHERE k.tenant_id = tenant AND k.subject_id = asked.subject_id AND k.destroyed_at IS NULL;
    -- Whoever has an account and nothing in the log is forgotten too, and must not come back as someone new.
    INSERT INTO mnemon.subject_keys (tenant_id, subject_id, generation, destroyed_at)
    SELECT tenant, asked.subject_id, 1, clock_timestamp()
     WHERE NOT EXISTS (SELECT FROM mnemon.subject_keys k
                        WHERE k.tenant_id = tenant AND k.subject_id = asked.subject_id);
    UPDATE mnemon.erasures e
       SET status = 'key_destroyed', decided_by = approver, decided_at = clock_timestamp(),
           key_destroyed_at = clock_timestamp(),
           events_affected = (SELECT count(*) FROM mnemon.event_subjects s
                               WHERE s.tenant_id = tenant AND s.subject_id = asked.subject_id)
     WHERE e.tenant_id = tenant AND e.erasure_id = erasure;
    PERFORM pg_notify('mnemon_privacy', json_build_object('tenant', tenant, 'subject', asked.subject_id)::text);
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.destroy_subject_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.destroy_subject_key TO mnemon_app;
