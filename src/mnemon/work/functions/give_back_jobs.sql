-- Returns jobs unfinished: the attempt does not count, because the job did not fail.
CREATE OR REPLACE FUNCTION mnemon.give_back_jobs(returned jsonb, delay interval) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    RETURN QUERY
        UPDATE mnemon.jobs j
           SET status = 'PENDING', attempts = j.attempts - 1, next_run_at = clock_timestamp() + delay,
               delayed = delay > interval '0',
               lease_token = NULL, lease_until = NULL, updated_at = clock_timestamp()
          FROM jsonb_to_recordset(returned) AS r(tenant_id uuid, job_id uuid, token uuid)
         WHERE j.tenant_id = r.tenant_id AND j.job_id = r.job_id AND j.lease_token = r.token
     RETURNING r.token::text;
    -- An idle worker of any kind looks; it is cheaper than to find out which.
    PERFORM pg_notify('mnemon_jobs', '*');
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.give_back_jobs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.give_back_jobs TO mnemon_app;
