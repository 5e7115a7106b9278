-- The first key of someone whom nothing named before, for what is sealed beside the event that names them; false if
-- they have one by now.
CREATE OR REPLACE FUNCTION mnemon.admit_subject(subject text, wrapping_key text, wrapped bytea) RETURNS boolean
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT mnemon.admit_newcomers(mnemon.current_tenant(), ARRAY[subject], ARRAY[wrapping_key], ARRAY[wrapped]) IS NULL
$$;
REVOKE EXECUTE ON FUNCTION mnemon.admit_subject FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.admit_subject TO mnemon_app;
