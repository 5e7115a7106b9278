-- Nobody was told of these after all: they are announced again as soon as may be.
CREATE OR REPLACE FUNCTION mnemon.withdraw_announcements(tenants uuid[], jobs uuid[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    DELETE FROM mnemon.job_announcements a USING unnest(tenants, jobs) AS one(tenant, job)
     WHERE a.tenant_id = one.tenant AND a.job_id = one.job;
$$;
REVOKE EXECUTE ON FUNCTION mnemon.withdraw_announcements FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.withdraw_announcements TO mnemon_app;
