-- Jobs that a transport is to be told of: due, waiting, and not announced within `again`. At most `outstanding` may be
-- announced and still wait, so that what is urgent never queues behind thousands, and tenants take turns here as they
-- do at claim_jobs. One caller at a time; who comes second leaves it to the first.
CREATE OR REPLACE FUNCTION mnemon.announce_jobs(kinds text[], outstanding integer, again interval)
    RETURNS TABLE (tenant_id uuid, job_id uuid, kind text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
    offered record;
    line    uuid[];
    room    integer;
    taken   integer;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('mnemon.announce_jobs', 0)) THEN
        RETURN;
    END IF;
    DELETE FROM mnemon.job_announcements a
     WHERE a.announced_at < clock_timestamp() - again
        OR NOT EXISTS (SELECT FROM mnemon.jobs j WHERE j.tenant_id = a.tenant_id AND j.job_id = a.job_id
                          AND j.status = 'PENDING' AND NOT j.delayed);
    room := outstanding - (SELECT count(*) FROM mnemon.job_announcements);
    FOR offered IN
        WITH RECURSIVE queue AS (
            SELECT offer.name, head.priority
              FROM unnest(kinds) AS offer(name)
             CROSS JOIN LATERAL (
                   SELECT j.priority FROM mnemon.jobs j
                    WHERE j.kind = offer.name AND j.status = 'PENDING' AND NOT j.delayed
                    ORDER BY j.priority DESC, j.tenant_id, j.next_run_at LIMIT 1) AS head
             UNION ALL
            SELECT queue.name, lower.priority
              FROM queue
             CROSS JOIN LATERAL (
                   SELECT j.priority FROM mnemon.jobs j
                    WHERE j.kind = queue.name AND j.status = 'PENDING' AND NOT j.delayed
                      AND j.priority < queue.priority
                    ORDER BY j.priority DESC, j.tenant_id, j.next_run_at LIMIT 1) AS lower)
        SELECT q.name, q.priority FROM queue q ORDER BY q.priority DESC, random()
    LOOP
        EXIT WHEN room <= 0;
        line := mnemon.tenants_in_turn(offered.name, offered.priority, gen_random_uuid(), 100, '{}');
        CONTINUE WHEN line = '{}';
        RETURN QUERY
            WITH due AS (
                SELECT own.tenant_id, own.job_id
                  FROM unnest(line) AS turn(tenant)
                 CROSS JOIN LATERAL (
                       SELECT j.tenant_id, j.job_id FROM mnemon.jobs j
                        WHERE j.kind = offered.name AND j.priority = offered.priority
                          AND j.status = 'PENDING' AND NOT j.delayed
                          AND j.tenant_id = turn.tenant AND j.next_run_at <= now()
                          AND NOT EXISTS (SELECT FROM mnemon.job_announcements a
                                           WHERE a.tenant_id = j.tenant_id AND a.job_id = j.job_id)
                        ORDER BY j.next_run_at LIMIT (room - 1) / cardinality(line) + 1) AS own
                 LIMIT room),
            told AS (
                INSERT INTO mnemon.job_announcements (tenant_id, job_id)
                SELECT due.tenant_id, due.job_id FROM due ON CONFLICT DO NOTHING
                RETURNING tenant_id, job_id)
            SELECT told.tenant_id, told.job_id, offered.name FROM told;
        GET DIAGNOSTICS taken = ROW_COUNT;
        room := room - taken;
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.announce_jobs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.announce_jobs TO mnemon_app;
