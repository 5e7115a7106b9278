-- Turns: kinds take turns at a worker, and tenants within a kind, so that no queue, however long, starves another.
-- For that the jobs that may run now lie in an index by tenant, and those that were put off in one by time; any
-- worker moves a job from the one to the other when its time has come.

ALTER TABLE mnemon.jobs ADD COLUMN delayed boolean NOT NULL DEFAULT false;
UPDATE mnemon.jobs SET delayed = true WHERE status = 'PENDING' AND next_run_at > now();

-- Whoever enqueues need not think of it. Not on updates: a trigger there would fetch each row that is claimed twice.
CREATE FUNCTION mnemon.mark_delayed() RETURNS trigger LANGUAGE plpgsql SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    NEW.delayed := true;
    RETURN NEW;
END $$;
CREATE TRIGGER marks_delayed BEFORE INSERT ON mnemon.jobs
    FOR EACH ROW WHEN (NEW.next_run_at > now()) EXECUTE FUNCTION mnemon.mark_delayed();

CREATE INDEX jobs_waiting ON mnemon.jobs (kind, priority DESC, tenant_id, next_run_at)
    WHERE status = 'PENDING' AND NOT delayed;
CREATE INDEX jobs_delayed ON mnemon.jobs (next_run_at) WHERE status = 'PENDING' AND delayed;
DROP INDEX mnemon.jobs_pending;

-- Lets jobs whose time has come take part in the turns.
CREATE FUNCTION mnemon.release_delayed_jobs(most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    released integer;
BEGIN
    UPDATE mnemon.jobs j SET delayed = false
     WHERE j.ctid = ANY (ARRAY(
           SELECT d.ctid FROM mnemon.jobs d
            WHERE d.status = 'PENDING' AND d.delayed AND d.next_run_at <= now()
            ORDER BY d.next_run_at FOR UPDATE SKIP LOCKED LIMIT most));
    GET DIAGNOSTICS released = ROW_COUNT;
    RETURN released;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.release_delayed_jobs(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.release_delayed_jobs(integer) TO mnemon_app;

-- The next tenants with a job of this kind and priority that may run: those after the one given, then from the
-- first on, itself the last. Each is found by one descent of the index, whatever lies between.
-- Called by claim_jobs alone, whose settings hold in it too; its own would cost more than the search.
CREATE FUNCTION mnemon.tenants_in_turn(of_kind text, of_priority smallint, after uuid, most integer) RETURNS uuid[]
    LANGUAGE plpgsql AS $$
DECLARE
    line    uuid[] := '{}';
    turn    uuid := after;
    past    timestamptz := 'infinity';
    wrapped boolean := false;
BEGIN
    WHILE cardinality(line) < most LOOP
        SELECT j.tenant_id INTO turn FROM mnemon.jobs j
         WHERE j.kind = of_kind AND j.priority = of_priority AND j.status = 'PENDING' AND NOT j.delayed
           AND (j.tenant_id, j.next_run_at) > (turn, past)
         ORDER BY j.tenant_id, j.next_run_at LIMIT 1;
        IF FOUND AND NOT (wrapped AND turn > after) THEN
            line := line || turn;
            past := 'infinity';
        ELSE
            EXIT WHEN wrapped;
            wrapped := true;
            turn := '00000000-0000-0000-0000-000000000000';
            past := '-infinity';
        END IF;
    END LOOP;
    RETURN line;
END $$;

-- Takes up to `wanted` due jobs: the highest priority first; within a priority the kinds in the order given; within
-- a kind the tenants in turn, each after the one that `after` says was served last; of a tenant the oldest.
-- `at_once` limits how many jobs of a kind run in all workers together: the advisory lock makes count and claim one
-- step, and it is held to the end of this short transaction.
DROP FUNCTION mnemon.claim_jobs(text, text[], integer[], integer, interval);
CREATE FUNCTION mnemon.claim_jobs(
    worker text, kinds text[], at_once integer[], after uuid[], wanted integer, lease interval)
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
            line := mnemon.tenants_in_turn(offered.name, offered.priority, offered.served, room);
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
REVOKE EXECUTE ON FUNCTION mnemon.claim_jobs(text, text[], integer[], uuid[], integer, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.claim_jobs(text, text[], integer[], uuid[], integer, interval) TO mnemon_app;
REVOKE EXECUTE ON FUNCTION mnemon.tenants_in_turn(text, smallint, uuid, integer) FROM PUBLIC;

-- Ends an attempt that did not succeed: another try after a delay, or the end of the job with its reason.
CREATE OR REPLACE FUNCTION mnemon.fail_job(
    tenant uuid, job uuid, token uuid, code text, message text, permanent boolean, delay interval DEFAULT NULL)
    RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    outcome text;
BEGIN
    UPDATE mnemon.jobs j
       SET status = CASE WHEN permanent OR j.attempts >= j.max_attempts THEN 'FAILED' ELSE 'PENDING' END,
           next_run_at = CASE WHEN permanent OR j.attempts >= j.max_attempts THEN NULL
               ELSE clock_timestamp() + coalesce(
                   delay, mnemon.job_backoff(j.attempts, j.backoff_seconds, j.backoff_cap_seconds)) END,
           finished_at = CASE WHEN permanent OR j.attempts >= j.max_attempts THEN clock_timestamp() END,
           last_error_code = CASE WHEN NOT permanent AND j.attempts >= j.max_attempts
               THEN 'MAX_ATTEMPTS_EXCEEDED' ELSE code END,
           last_error_message = CASE WHEN NOT permanent AND j.attempts >= j.max_attempts
               THEN format('%s: %s (attempt %s of %s)', code, message, j.attempts, j.max_attempts) ELSE message END,
           errors = CASE WHEN jsonb_array_length(j.errors) < 20 THEN j.errors ELSE j.errors - 0 END
               || jsonb_build_object('attempt', j.attempts, 'at', clock_timestamp(), 'worker', j.locked_by,
                                     'code', code, 'message', message),
           delayed = true, lease_token = NULL, lease_until = NULL, updated_at = clock_timestamp()
     WHERE j.tenant_id = tenant AND j.job_id = job AND j.lease_token = token
    RETURNING j.status INTO outcome;
    RETURN outcome;
END $$;

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

-- A dead job starts over with all its attempts; the history of its errors stays. A waiting one starts now.
CREATE OR REPLACE FUNCTION mnemon.retry_job(job uuid) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    woken text;
BEGIN
    UPDATE mnemon.jobs j
       SET status = 'PENDING', attempts = CASE j.status WHEN 'FAILED' THEN 0 ELSE j.attempts END,
           next_run_at = clock_timestamp(), delayed = false, finished_at = NULL, updated_at = clock_timestamp()
     WHERE j.tenant_id = mnemon.current_tenant() AND j.job_id = job AND j.status IN ('FAILED', 'PENDING')
    RETURNING j.kind INTO woken;
    IF woken IS NOT NULL THEN
        PERFORM pg_notify('mnemon_jobs', woken);
    END IF;
    RETURN woken IS NOT NULL;
END $$;

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

-- Ends jobs that have been due for longer than `patience` while no living worker offered their kind in all that
-- time. A job that waits behind busy workers of its kind is never touched.
CREATE OR REPLACE FUNCTION mnemon.fail_unclaimed_jobs(patience interval, most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    ended integer;
BEGIN
    WITH abandoned AS MATERIALIZED (
        SELECT j.tenant_id, j.job_id FROM mnemon.jobs j
         WHERE j.status = 'PENDING' AND NOT j.delayed AND j.next_run_at < now() - patience
           AND NOT EXISTS (SELECT FROM mnemon.workers w
                            WHERE j.kind = ANY (w.kinds) AND w.heartbeat_at > now() - patience)
           FOR UPDATE SKIP LOCKED LIMIT most)
    UPDATE mnemon.jobs j
       SET status = 'FAILED', next_run_at = NULL, finished_at = clock_timestamp(), updated_at = clock_timestamp(),
           last_error_code = 'NEVER_PICKED_UP',
           last_error_message = format('No worker offered the kind %s for %s; start one, then retry the job.',
                                       j.kind, patience)
      FROM abandoned WHERE j.tenant_id = abandoned.tenant_id AND j.job_id = abandoned.job_id;
    GET DIAGNOSTICS ended = ROW_COUNT;
    RETURN ended;
END $$;
