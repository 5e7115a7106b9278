-- How many events subscriptions that exist in every tenant have not looked at, by their names, all tenants together;
-- also where one is paused. A tenant that is on its way between databases is not counted.
CREATE OR REPLACE FUNCTION mnemon.lag_of_subscriptions(names text[]) RETURNS TABLE (subscription_id text, events bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT name, sum(p.sequence - coalesce(c.sequence, 0))::bigint
      FROM mnemon.partitions p
     CROSS JOIN unnest(names) AS name
      LEFT JOIN mnemon.subscription_cursors c
        ON c.tenant_id = p.tenant_id AND c.subscription_id = name AND c.partition_id = p.partition_id
     WHERE p.sequence > coalesce(c.sequence, 0)
       AND p.tenant_id NOT IN (SELECT mnemon.tenants_away())
     GROUP BY name
$$;
REVOKE EXECUTE ON FUNCTION mnemon.lag_of_subscriptions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.lag_of_subscriptions TO mnemon_app;
