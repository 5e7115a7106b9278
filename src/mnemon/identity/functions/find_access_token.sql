-- Whose access token this is, if it is valid. It crosses tenants, since the token comes before its tenant is known.
CREATE OR REPLACE FUNCTION mnemon.find_access_token(p_secret_hash bytea)
    RETURNS TABLE (tenant_id uuid, token_id uuid, user_id uuid, role text, scope text, last_used_at timestamptz,
                   name text, token_name text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, pg_temp AS $$
    SELECT tokens.tenant_id, tokens.token_id, tokens.user_id, users.role, tokens.scope, tokens.last_used_at,
           users.name, tokens.name
      FROM mnemon.access_tokens AS tokens JOIN mnemon.users USING (tenant_id, user_id)
     WHERE tokens.secret_hash = p_secret_hash
       AND tokens.revoked_at IS NULL
       AND (tokens.expires_at IS NULL OR tokens.expires_at > now())
       AND users.disabled_at IS NULL
$$;
REVOKE EXECUTE ON FUNCTION mnemon.find_access_token FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.find_access_token TO mnemon_app;
