-- Which tenants have rows of a lens that another version of it wrote. It tells a process where to look, and nothing
-- of what is there.
CREATE OR REPLACE FUNCTION mnemon.tenants_with_other_lenses(names text[], versions integer[])
    RETURNS TABLE (tenant_id uuid, lens text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT t.tenant_id, wanted.name
      FROM mnemon.tenants t
     CROSS JOIN unnest(names, versions) AS wanted (name, version)
      LEFT JOIN mnemon.lens_states s ON s.tenant_id = t.tenant_id AND s.lens = wanted.name
     WHERE s.version IS DISTINCT FROM wanted.version
     ORDER BY t.tenant_id, wanted.name
$$;
REVOKE EXECUTE ON FUNCTION mnemon.tenants_with_other_lenses FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.tenants_with_other_lenses TO mnemon_app;
