-- Whether `after` is `before` with some values, at any depth, replaced by the word for an erased one.
CREATE OR REPLACE FUNCTION mnemon.only_redacts(after json, before json) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF after::text IN (before::text, '"[REDACTED]"') THEN
        RETURN true;
    ELSIF json_typeof(after) = 'object' AND json_typeof(before) = 'object' THEN
        RETURN (SELECT bool_and(coalesce(mnemon.only_redacts(a.value, b.value), false))
                  FROM json_each(after) a FULL JOIN json_each(before) b USING (key));
    ELSIF json_typeof(after) = 'array' AND json_typeof(before) = 'array' THEN
        RETURN (SELECT bool_and(coalesce(mnemon.only_redacts(a.value, b.value), false))
                  FROM json_array_elements(after) WITH ORDINALITY a (value, n)
                  FULL JOIN json_array_elements(before) WITH ORDINALITY b (value, n) USING (n));
    END IF;
    RETURN false;
END $$;
