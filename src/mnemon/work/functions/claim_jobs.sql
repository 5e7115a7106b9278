-- Takes up to `wanted` due jobs: the highest priority first; within a priority the kinds in the order given; within
-- a kind the tenants in turn, each after the one that `after` says was served last; of a tenant the oldest.
-- Tenants of `besides` get nothing now.
-- `at_once` limits how many jobs of a kind run in all workers together: the advisory lock makes count and claim one
-- step, and it is held to the end of this short transaction.
-- It forbids every plan but the walk along an index, as the other functions of the hot path do: their plans are kept,
-- often from when the table was empty, and a plan made for an empty table reads a full one from end to end.
CREATE OR REPLACE FUNCTION mnemon.claim_jobs(
    worker text, kinds text[], at_once integer[], after uuid[], wanted integer, lease interval,
    besides uuid[] DEFAULT '{}')
    RETURNS TABLE (tenant_id uuid, job_id uuid, kind text, payload text, attempt integer, max_attempts integer,
                   time_limit_seconds double precision, token text, waited_seconds double precision)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET enable_incremental_sort = off AS $$
#variable_conflict use_column
DECLARE
    offered record;
    line    uuid[];
    room    integer;
    taken   integer;
BEGIN
    FOR offered IN
        WITH RECURSIVE queue AS (
            SELECT offer.name, offer.most, offer.served, offer.place, head.priority
              FROM unnest(kinds, at_once, after) WITH ORDINALITY AS offer(name, most, served, place)
             CROSS JOIN LATERAL (
                   SELECT j.priority FROM mnemon.jobs j
                    WHERE j.kind = offer.name AND j.status = 'PENDING' AND NOT j.delayed
                    ORDER BY j.priority DESC, j.tenant_id, j.next_run_at LIMIT 1) AS head
             UNION ALL
            SELECT queue.name, queue.most, queue.served, queue.place, lower.priority
              FROM queue
             CROSS JOIN LATERAL (
                   SELECT j.priority FROM mnemon.jobs j
                    WHERE j.kind = queue.name AND j.status = 'PENDING' AND NOT j.delayed
                      AND j.priority < queue.priority
                    ORDER BY j.priority DESC, j.tenant_id, j.next_run_at LIMIT 1) AS lower)
        SELECT q.name, q.most, q.served, q.priority FROM queue q ORDER BY q.priority DESC, q.place
    LOOP
        room := wanted;
        IF offered.most IS NOT NULL THEN
            CONTINUE WHEN NOT pg_try_advisory_xact_lock(hashtextextended('mnemon.jobs/' || offered.name, 0));
            room := least(room, offered.most - (
                SELECT count(*) FROM mnemon.jobs j WHERE j.kind = offered.name AND j.status = 'PROCESSING'));
        END IF;
        -- Once more where some tenants had fewer jobs than their share.
        WHILE room > 0 LOOP
            line := mnemon.tenants_in_turn(offered.name, offered.priority, offered.served, room, besides);
            EXIT WHEN line = '{}';
            RETURN QUERY
                WITH due AS MATERIALIZED (
                    SELECT own.place, own.next_run_at
                      FROM unnest(line) AS turn(tenant)
                     CROSS JOIN LATERAL (
                           SELECT j.ctid AS place, j.next_run_at FROM mnemon.jobs j
                            WHERE j.kind = offered.name AND j.priority = offered.priority
                              AND j.status = 'PENDING' AND NOT j.delayed
                              AND j.tenant_id = turn.tenant AND j.next_run_at <= now()
                            ORDER BY j.next_run_at
                              FOR UPDATE SKIP LOCKED LIMIT (room - 1) / cardinality(line) + 1) AS own
                     LIMIT room)
                UPDATE mnemon.jobs j
                   SET status = 'PROCESSING', attempts = j.attempts + 1, next_run_at = NULL,
                       locked_by = worker, locked_at = clock_timestamp(), updated_at = clock_timestamp(),
                       lease_token = gen_random_uuid(), lease_until = clock_timestamp() + lease
                  FROM due
                 WHERE j.ctid = due.place
             RETURNING j.tenant_id, j.job_id, j.kind, j.payload::text, j.attempts, j.max_attempts,
                       j.time_limit_seconds, j.lease_token::text,
                       extract(epoch FROM clock_timestamp() - due.next_run_at)::double precision;
            GET DIAGNOSTICS taken = ROW_COUNT;
            room := room - taken;
            wanted := wanted - taken;
            EXIT WHEN taken = 0;
        END LOOP;
        EXIT WHEN wanted <= 0;
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.claim_jobs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.claim_jobs TO mnemon_app;
