-- Of documents that are removed, once for each tenant and title.
CREATE OR REPLACE FUNCTION mnemon.remove_titles() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    PERFORM mnemon.drop_titles(tenant_id, array_agg(DISTINCT hashtextextended(title, 0))) FROM gone GROUP BY tenant_id;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.remove_titles FROM PUBLIC;
