-- Says that a worker lives and extends its leases; answers which tokens it still holds. A row that the worker's own
-- finishing transaction has locked is passed over, not waited for: while it is locked nobody can rescue it either.
-- A lease is never extended past the job's time limit, so a worker that hangs but beats cannot keep a job for ever.
CREATE OR REPLACE FUNCTION mnemon.beat(worker text, tokens uuid[], lease interval) RETURNS uuid[]
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    UPDATE mnemon.workers SET heartbeat_at = clock_timestamp() WHERE worker_id = worker;
    WITH mine AS MATERIALIZED (
        SELECT j.tenant_id, j.job_id FROM mnemon.jobs j
         WHERE j.status = 'PROCESSING' AND j.lease_token = ANY (tokens)
           FOR NO KEY UPDATE SKIP LOCKED)
    UPDATE mnemon.jobs j
       SET lease_until = greatest(j.lease_until, least(
               clock_timestamp() + lease, j.locked_at + make_interval(secs => j.time_limit_seconds) + lease)),
           updated_at = clock_timestamp()
      FROM mine WHERE j.tenant_id = mine.tenant_id AND j.job_id = mine.job_id;
    RETURN coalesce((SELECT array_agg(j.lease_token) FROM mnemon.jobs j
                      WHERE j.status = 'PROCESSING' AND j.lease_token = ANY (tokens)), '{}');
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.beat FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.beat TO mnemon_app;
