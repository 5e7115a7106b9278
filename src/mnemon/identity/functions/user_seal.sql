-- The digest of a user's row that the events of identity tell: all but when it was made, disabled or last let in.
CREATE OR REPLACE FUNCTION mnemon.user_seal(one mnemon.users) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN encode(sha256(one.salt || convert_to(jsonb_build_array(
        one.tenant_id, one.user_id, one.email, one.name, one.role, one.disabled_at IS NOT NULL, one.password_hash
    )::text, 'UTF8')), 'hex');
