-- Which tenants have something for subscriptions that exist in every tenant, by their names. It tells a process
-- where to look, and nothing of what is there. A tenant that has no such subscription yet has not begun. One that is
-- on its way between databases is not looked at.
CREATE OR REPLACE FUNCTION mnemon.tenants_behind(names text[]) RETURNS TABLE (tenant_id uuid, subscription_id text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT DISTINCT p.tenant_id, name
      FROM mnemon.partitions p
     CROSS JOIN unnest(names) AS name
      LEFT JOIN mnemon.subscriptions s ON s.tenant_id = p.tenant_id AND s.subscription_id = name
      LEFT JOIN mnemon.subscription_cursors c
        ON c.tenant_id = p.tenant_id AND c.subscription_id = name AND c.partition_id = p.partition_id
     WHERE p.sequence > coalesce(c.sequence, 0)
       AND coalesce(c.due_at, '-infinity') <= clock_timestamp()
       AND (s.status IS NULL OR s.status = 'active' OR s.status = 'broken' AND s.probe_at <= clock_timestamp())
       AND p.tenant_id NOT IN (SELECT mnemon.tenants_away())
$$;
REVOKE EXECUTE ON FUNCTION mnemon.tenants_behind FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.tenants_behind TO mnemon_app;
