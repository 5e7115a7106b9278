-- The words that a text is looked for by. Where there is none but "the" or "?", no event has what is looked for.
CREATE OR REPLACE FUNCTION mnemon.words_to_find(asked text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT
    RETURN coalesce(nullif(tsvector_to_array(to_tsvector('english', asked)), '{}'), ARRAY['']);
REVOKE EXECUTE ON FUNCTION mnemon.words_to_find FROM PUBLIC;
