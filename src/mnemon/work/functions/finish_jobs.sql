-- Finishes many jobs in one statement; answers the tokens that were still held.
CREATE OR REPLACE FUNCTION mnemon.finish_jobs(outcomes jsonb) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    RETURN QUERY
        UPDATE mnemon.jobs j
           SET status = 'DONE', lease_token = NULL, lease_until = NULL, result = o.result,
               finished_at = clock_timestamp(), updated_at = clock_timestamp()
          FROM jsonb_to_recordset(outcomes) AS o(tenant_id uuid, job_id uuid, token uuid, result jsonb)
         WHERE j.tenant_id = o.tenant_id AND j.job_id = o.job_id AND j.lease_token = o.token
     RETURNING o.token::text;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.finish_jobs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.finish_jobs TO mnemon_app;
