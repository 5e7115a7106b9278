-- The queue of all tenants in numbers, by kind.
CREATE OR REPLACE FUNCTION mnemon.job_stats()
    RETURNS TABLE (kind text, waiting bigint, delayed bigint, running bigint, dead bigint,
                   oldest_waiting_seconds double precision, oldest_running_seconds double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    SET enable_seqscan = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        SELECT j.kind,
               count(*) FILTER (WHERE j.status = 'PENDING' AND j.next_run_at <= now()),
               count(*) FILTER (WHERE j.status = 'PENDING' AND j.next_run_at > now()),
               count(*) FILTER (WHERE j.status = 'PROCESSING'),
               count(*) FILTER (WHERE j.status = 'FAILED'),
               coalesce(extract(epoch FROM now() - min(j.next_run_at) FILTER (
                   WHERE j.status = 'PENDING' AND j.next_run_at <= now())), 0)::double precision,
               coalesce(extract(epoch FROM now() - min(j.locked_at) FILTER (
                   WHERE j.status = 'PROCESSING')), 0)::double precision
          FROM (SELECT p.kind, p.status, p.next_run_at, p.locked_at FROM mnemon.jobs p
                 WHERE p.status = 'PENDING' AND NOT p.delayed
                UNION ALL
                SELECT d.kind, d.status, d.next_run_at, d.locked_at FROM mnemon.jobs d
                 WHERE d.status = 'PENDING' AND d.delayed
                UNION ALL
                SELECT r.kind, r.status, r.next_run_at, r.locked_at FROM mnemon.jobs r WHERE r.status = 'PROCESSING'
                UNION ALL
                SELECT f.kind, f.status, f.next_run_at, f.locked_at FROM mnemon.jobs f WHERE f.status = 'FAILED'
               ) AS j
         GROUP BY j.kind ORDER BY j.kind;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.job_stats FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.job_stats TO mnemon_app;
