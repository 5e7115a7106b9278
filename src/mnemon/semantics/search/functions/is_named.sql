-- Whether a name is asked for, whole or by one of its words.
CREATE OR REPLACE FUNCTION mnemon.is_named(name text, asked text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN lower(asked) = lower(name) OR lower(asked) = ANY (regexp_split_to_array(lower(name), '\s+'));
