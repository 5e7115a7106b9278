-- SHA-256 of a text as it is hashed into the log.
CREATE OR REPLACE FUNCTION mnemon.text_digest(payload text) RETURNS bytea
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN sha256(convert_to(payload, 'UTF8'));
