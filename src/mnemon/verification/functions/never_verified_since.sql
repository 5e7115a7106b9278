-- Since when there is a tenant of this database that was never verified; null where each was. For `/ready`, which has
-- no tenant.
CREATE OR REPLACE FUNCTION mnemon.never_verified_since() RETURNS timestamptz
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, pg_temp AS $$
    SELECT min(t.created_at) FROM mnemon.tenants t
     WHERE NOT EXISTS (SELECT FROM mnemon.verification_results r WHERE r.tenant_id = t.tenant_id)
       AND t.tenant_id NOT IN (SELECT mnemon.tenants_away())
$$;
REVOKE EXECUTE ON FUNCTION mnemon.never_verified_since FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.never_verified_since TO mnemon_app;
