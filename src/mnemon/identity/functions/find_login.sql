-- The account of an address, for a login. A credential comes before its tenant is known: this is one of three
-- functions that cross tenants, and each answers just one question about one secret or one address.
CREATE OR REPLACE FUNCTION mnemon.find_login(p_slug text, p_email text)
    RETURNS TABLE (tenant_id uuid, user_id uuid, role text, password_hash text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, pg_temp AS $$
    SELECT users.tenant_id, users.user_id, users.role, users.password_hash
      FROM mnemon.users JOIN mnemon.tenants USING (tenant_id)
     WHERE tenants.slug = p_slug AND lower(users.email) = lower(p_email) AND users.disabled_at IS NULL
$$;
REVOKE EXECUTE ON FUNCTION mnemon.find_login FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.find_login TO mnemon_app;
