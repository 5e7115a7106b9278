-- An append that names a person holds their key to its commit, or is refused if the key is gone. So what was sealed
-- with a key from some process's memory is never committed after that key was destroyed.
CREATE OR REPLACE FUNCTION mnemon.hold_subject_keys() RETURNS trigger
    LANGUAGE plpgsql AS $$
DECLARE
    tenant uuid;
    wanted text[];
    held   text[];
BEGIN
    SELECT (array_agg(tenant_id))[1], array_agg(DISTINCT subject_id) INTO tenant, wanted FROM added;
    SELECT array_agg(living.subject_id) INTO held
      FROM (SELECT k.subject_id FROM mnemon.subject_keys k
             WHERE k.tenant_id = tenant AND k.subject_id = ANY (wanted) AND k.destroyed_at IS NULL
               FOR KEY SHARE) AS living;
    IF cardinality(held) IS DISTINCT FROM cardinality(wanted) THEN
        RAISE EXCEPTION 'a person named by the events has no living key' USING ERRCODE = 'MN001', DETAIL = (
            SELECT to_json(array_agg(missing))::text
              FROM (SELECT unnest(wanted) EXCEPT SELECT unnest(held)) AS gone (missing));
    END IF;
    RETURN NULL;
END $$;
