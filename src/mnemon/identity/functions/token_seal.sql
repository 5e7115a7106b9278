-- The digest of a token's row that the event of its making tells: all but when it was used or revoked. The digest of
-- its secret is random enough to be the salt.
CREATE OR REPLACE FUNCTION mnemon.token_seal(one mnemon.access_tokens) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN encode(sha256(one.secret_hash || convert_to(jsonb_build_array(
        one.tenant_id, one.token_id, one.user_id, one.name, one.scope, extract(epoch FROM one.expires_at)
    )::text, 'UTF8')), 'hex');
