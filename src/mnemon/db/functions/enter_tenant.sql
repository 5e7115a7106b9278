-- Makes the rest of the transaction this tenant's, unless the tenant is not open here. The lock is held to the end of
-- the transaction: whoever closes a tenant can wait until the last one that got in has ended. One that is on its way
-- back is where it went to until it has arrived.
CREATE OR REPLACE FUNCTION mnemon.enter_tenant(tenant text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    move record;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('mnemon tenant ' || tenant, 0));
    SELECT CASE WHEN m.state = 'arriving' AND m.url <> '' THEN 'moved' ELSE m.state END AS state, m.url
      INTO move FROM mnemon.tenant_moves m
     WHERE m.tenant_id = tenant::uuid AND m.state <> 'leaving';
    IF FOUND AND tenant::uuid IN (SELECT mnemon.tenants_away()) THEN
        RAISE EXCEPTION 'the tenant is not open in this database: %', move.state
            USING ERRCODE = 'MN002', DETAIL = json_build_object('state', move.state, 'url', move.url)::text;
    END IF;
    RETURN set_config('mnemon.tenant', tenant, true);
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.enter_tenant FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.enter_tenant TO mnemon_app;
