-- Uses up a login link, and tells whose it was. It crosses tenants, since the link comes before its tenant is known.
CREATE OR REPLACE FUNCTION mnemon.redeem_login_link(p_secret_hash bytea)
    RETURNS TABLE (tenant_id uuid, user_id uuid, role text)
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = mnemon, pg_temp AS $$
    WITH redeemed AS (
        UPDATE mnemon.login_links AS links SET used_at = now()
          FROM mnemon.users
         WHERE links.secret_hash = p_secret_hash AND links.used_at IS NULL AND links.expires_at > now()
           AND users.tenant_id = links.tenant_id AND users.user_id = links.user_id AND users.disabled_at IS NULL
        RETURNING users.tenant_id, users.user_id, users.role)
    SELECT * FROM redeemed
$$;
REVOKE EXECUTE ON FUNCTION mnemon.redeem_login_link FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.redeem_login_link TO mnemon_app;
