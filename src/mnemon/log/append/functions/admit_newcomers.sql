-- The first keys of people whom nothing named before, all or none: {"newcomers": [name, …]} if some of them have a key
-- by now; all of them, if the wrapping key was retired. Whoever adds the same person waits for the other to commit.
CREATE OR REPLACE FUNCTION mnemon.admit_newcomers(
    tenant uuid, newcomers text[], wrapping_keys text[], wrapped_keys bytea[])
    RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO mnemon.subject_keys (tenant_id, subject_id, generation, key_id, wrapped_key)
    SELECT tenant, subject_id, 1, key_id, wrapped_key
      FROM unnest(newcomers, wrapping_keys, wrapped_keys) AS row (subject_id, key_id, wrapped_key)
     ORDER BY subject_id;
    RETURN NULL;
EXCEPTION WHEN unique_violation OR foreign_key_violation THEN
    RETURN jsonb_build_object('newcomers', (
        SELECT to_jsonb(coalesce(array_agg(DISTINCT k.subject_id::text), newcomers)) FROM mnemon.subject_keys k
         WHERE k.tenant_id = tenant AND k.subject_id = ANY (newcomers)));
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.admit_newcomers FROM PUBLIC;
