-- How far a running job has come, in its own words. Only who holds the lease may say so.
CREATE OR REPLACE FUNCTION mnemon.report_progress(job uuid, token uuid, said jsonb) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    UPDATE mnemon.jobs j SET progress = said, updated_at = clock_timestamp()
     WHERE j.tenant_id = mnemon.current_tenant() AND j.job_id = job AND j.lease_token = token;
    RETURN FOUND;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.report_progress FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.report_progress TO mnemon_app;
