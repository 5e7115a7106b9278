-- The digest of a login link's row that the event of its making tells: all but when it was used.
CREATE OR REPLACE FUNCTION mnemon.link_seal(one mnemon.login_links) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN encode(sha256(one.secret_hash || convert_to(jsonb_build_array(
        one.tenant_id, one.user_id, extract(epoch FROM one.expires_at))::text, 'UTF8')), 'hex');
