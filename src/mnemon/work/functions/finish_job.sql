-- Finishes one job inside the transaction that writes its effects; false when the lease is no longer held.
-- The transaction must not sit on the locked row for longer than a lease should its process be stopped.
CREATE OR REPLACE FUNCTION mnemon.finish_job(job uuid, token uuid, outcome jsonb) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    UPDATE mnemon.jobs j
       SET status = 'DONE', lease_token = NULL, lease_until = NULL, result = outcome,
           finished_at = clock_timestamp(), updated_at = clock_timestamp()
     WHERE j.tenant_id = mnemon.current_tenant() AND j.job_id = job AND j.lease_token = token;
    RETURN FOUND;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.finish_job FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.finish_job TO mnemon_app;
