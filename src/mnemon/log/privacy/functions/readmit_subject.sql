-- The next generation for a person whose earlier keys are all destroyed; NULL if there is nothing to follow.
CREATE OR REPLACE FUNCTION mnemon.readmit_subject(
    subject text, wrapping_key text, wrapped bytea, destroyed_before timestamptz)
    RETURNS integer
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    INSERT INTO mnemon.subject_keys (tenant_id, subject_id, generation, key_id, wrapped_key)
    SELECT tenant_id, subject_id, max(generation) + 1, wrapping_key, wrapped
      FROM mnemon.subject_keys
     WHERE tenant_id = mnemon.current_tenant() AND subject_id = subject
     GROUP BY tenant_id, subject_id
    HAVING bool_and(destroyed_at IS NOT NULL) AND max(destroyed_at) < destroyed_before
    RETURNING generation
$$;
REVOKE EXECUTE ON FUNCTION mnemon.readmit_subject FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.readmit_subject TO mnemon_app;
