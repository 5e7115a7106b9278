-- Durable jobs: one table, one state machine, and the functions that are the only way to move a job along it.
-- Tenants enqueue and read their own rows; every other write goes through a function that checks the lease token.
-- Workers serve all tenants, so their functions cross tenants on purpose. System jobs belong to the nil tenant.

CREATE TABLE mnemon.jobs (
    tenant_id           uuid NOT NULL,
    job_id              uuid NOT NULL,
    kind                text NOT NULL CHECK (length(kind) BETWEEN 1 AND 100),
    payload             jsonb NOT NULL,
    dedupe_key          text CHECK (length(dedupe_key) BETWEEN 1 AND 500),
    priority            smallint NOT NULL DEFAULT 0,
    status              text NOT NULL DEFAULT 'PENDING',
    attempts            integer NOT NULL DEFAULT 0,
    max_attempts        integer NOT NULL DEFAULT 5 CHECK (max_attempts BETWEEN 1 AND 1000),
    time_limit_seconds  double precision NOT NULL DEFAULT 300 CHECK (time_limit_seconds > 0),
    backoff_seconds     double precision NOT NULL DEFAULT 30 CHECK (backoff_seconds >= 0),
    backoff_cap_seconds double precision NOT NULL DEFAULT 600 CHECK (backoff_cap_seconds >= backoff_seconds),
    next_run_at         timestamptz DEFAULT now(),
    locked_by           text,
    locked_at           timestamptz,
    lease_token         uuid,
    lease_until         timestamptz,
    last_error_code     text,
    last_error_message  text,
    errors              jsonb NOT NULL DEFAULT '[]',
    result              jsonb,
    created_at          timestamptz NOT NULL DEFAULT now(),
    updated_at          timestamptz NOT NULL DEFAULT now(),
    finished_at         timestamptz,
    PRIMARY KEY (tenant_id, job_id),
    CONSTRAINT a_known_status CHECK (status IN ('PENDING', 'PROCESSING', 'DONE', 'FAILED')),
    CONSTRAINT attempts_within_limit CHECK (attempts BETWEEN 0 AND max_attempts),
    CONSTRAINT pending_has_a_start CHECK ((status = 'PENDING') = (next_run_at IS NOT NULL)),
    CONSTRAINT pending_has_attempts_left CHECK (status <> 'PENDING' OR attempts < max_attempts),
    CONSTRAINT processing_has_a_lease CHECK (
        (status = 'PROCESSING') = (lease_token IS NOT NULL) AND (status = 'PROCESSING') = (lease_until IS NOT NULL)),
    CONSTRAINT processing_was_claimed CHECK (
        status NOT IN ('PROCESSING', 'DONE') OR (attempts > 0 AND locked_by IS NOT NULL AND locked_at IS NOT NULL)),
    CONSTRAINT finished_has_a_time CHECK ((status IN ('DONE', 'FAILED')) = (finished_at IS NOT NULL)),
    CONSTRAINT failed_has_a_reason CHECK (
        status <> 'FAILED' OR (last_error_code IS NOT NULL AND last_error_message IS NOT NULL)),
    CONSTRAINT only_done_has_a_result CHECK (result IS NULL OR status = 'DONE')
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);

-- Partial and few: a success costs one entry here for each of its states but the last. A heartbeat writes none.
CREATE INDEX jobs_pending ON mnemon.jobs (kind, priority DESC, next_run_at) WHERE status = 'PENDING';
CREATE INDEX jobs_processing ON mnemon.jobs (kind) WHERE status = 'PROCESSING';
CREATE INDEX jobs_failed ON mnemon.jobs (kind, finished_at) WHERE status = 'FAILED';
CREATE UNIQUE INDEX jobs_unfinished_twin ON mnemon.jobs (tenant_id, kind, dedupe_key)
    WHERE dedupe_key IS NOT NULL AND status IN ('PENDING', 'PROCESSING');

CALL mnemon.isolate_by_tenant('mnemon.jobs');
GRANT SELECT ON mnemon.jobs TO mnemon_app;
GRANT INSERT (tenant_id, job_id, kind, payload, dedupe_key, priority, max_attempts, time_limit_seconds,
              backoff_seconds, backoff_cap_seconds, next_run_at) ON mnemon.jobs TO mnemon_app;

CREATE TABLE mnemon.workers (
    worker_id    text PRIMARY KEY,
    host         text NOT NULL,
    process_id   integer NOT NULL,
    slots        integer NOT NULL,
    kinds        text[] NOT NULL,
    started_at   timestamptz NOT NULL DEFAULT now(),
    heartbeat_at timestamptz NOT NULL DEFAULT now(),
    stopped_at   timestamptz
);
GRANT SELECT ON mnemon.workers TO mnemon_app;

CREATE TABLE mnemon.schedules (
    name         text PRIMARY KEY,
    kind         text NOT NULL,
    cron         text NOT NULL,
    timezone     text NOT NULL,
    next_fire_at timestamptz NOT NULL,
    last_fire_at timestamptz
);
GRANT SELECT ON mnemon.schedules TO mnemon_app;

-- The functions of the hot path forbid every plan but the walk along an index: their plans are cached, often while
-- the table is empty, and a plan made for an empty table reads a full one from end to end.

-- 30 s, 60 s, 120 s … up to the cap, and up to a tenth more so that a crowd does not return together.
CREATE FUNCTION mnemon.job_backoff(attempts integer, base double precision, cap double precision) RETURNS interval
    LANGUAGE sql VOLATILE
    RETURN make_interval(secs => least(base * 2 ^ least(attempts - 1, 30), cap) * (1 + random() / 10));

-- Version 7, as the enqueuing program makes them: the order of the keys is the order of the list.
CREATE FUNCTION mnemon.time_ordered_uuid() RETURNS uuid
    LANGUAGE sql VOLATILE
    RETURN encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING substring(
        int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1),
        'hex')::uuid;

-- Takes up to `wanted` due jobs. Kinds are visited by the urgency of their first job; within a kind the order is
-- priority, then age. `at_once` limits how many jobs of a kind run in all workers together: the advisory lock
-- makes count and claim one step, and it is held to the end of this short transaction.
CREATE FUNCTION mnemon.claim_jobs(worker text, kinds text[], at_once integer[], wanted integer, lease interval)
    RETURNS TABLE (tenant_id uuid, job_id uuid, kind text, payload text, attempt integer, max_attempts integer,
                   time_limit_seconds double precision, token text, waited_seconds double precision)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
    offered record;
    room    integer;
    taken   integer;
BEGIN
    FOR offered IN
        SELECT offer.name, offer.most
          FROM unnest(kinds, at_once) AS offer(name, most)
         CROSS JOIN LATERAL (
               SELECT j.priority, j.next_run_at FROM mnemon.jobs j
                WHERE j.kind = offer.name AND j.status = 'PENDING' AND j.next_run_at <= now()
                ORDER BY j.priority DESC, j.next_run_at LIMIT 1) AS head
         ORDER BY head.priority DESC, head.next_run_at
    LOOP
        room := wanted;
        IF offered.most IS NOT NULL THEN
            CONTINUE WHEN NOT pg_try_advisory_xact_lock(hashtextextended('mnemon.jobs/' || offered.name, 0));
            room := least(room, offered.most - (
                SELECT count(*) FROM mnemon.jobs j WHERE j.kind = offered.name AND j.status = 'PROCESSING'));
            CONTINUE WHEN room <= 0;
        END IF;
        RETURN QUERY
            WITH due AS MATERIALIZED (
                SELECT j.ctid AS place, j.next_run_at FROM mnemon.jobs j
                 WHERE j.kind = offered.name AND j.status = 'PENDING' AND j.next_run_at <= now()
                 ORDER BY j.priority DESC, j.next_run_at
                   FOR UPDATE SKIP LOCKED LIMIT room)
            UPDATE mnemon.jobs j
               SET status = 'PROCESSING', attempts = j.attempts + 1, next_run_at = NULL,
                   locked_by = worker, locked_at = clock_timestamp(), updated_at = clock_timestamp(),
                   lease_token = gen_random_uuid(), lease_until = clock_timestamp() + lease
              FROM due
             WHERE j.ctid = due.place
         RETURNING j.tenant_id, j.job_id, j.kind, j.payload::text, j.attempts, j.max_attempts, j.time_limit_seconds,
                   j.lease_token::text, extract(epoch FROM clock_timestamp() - due.next_run_at)::double precision;
        GET DIAGNOSTICS taken = ROW_COUNT;
        wanted := wanted - taken;
        EXIT WHEN wanted <= 0;
    END LOOP;
END $$;

-- Says that a worker lives and extends its leases; answers which tokens it still holds. A row that the worker's own
-- finishing transaction has locked is passed over, not waited for: while it is locked nobody can rescue it either.
-- A lease is never extended past the job's time limit, so a worker that hangs but beats cannot keep a job for ever.
CREATE FUNCTION mnemon.beat(worker text, tokens uuid[], lease interval) RETURNS uuid[]
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

CREATE FUNCTION mnemon.register_worker(worker text, host text, process_id integer, slots integer, kinds text[])
    RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    BEGIN ATOMIC
        INSERT INTO mnemon.workers (worker_id, host, process_id, slots, kinds)
        VALUES (worker, host, process_id, slots, kinds)
            ON CONFLICT (worker_id) DO UPDATE
           SET host = excluded.host, process_id = excluded.process_id, slots = excluded.slots,
               kinds = excluded.kinds, started_at = now(), heartbeat_at = now(), stopped_at = NULL;
    END;

CREATE FUNCTION mnemon.unregister_worker(worker text) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    BEGIN ATOMIC
        UPDATE mnemon.workers SET stopped_at = now(), heartbeat_at = now() WHERE worker_id = worker;
    END;

-- Finishes many jobs in one statement; answers the tokens that were still held.
CREATE FUNCTION mnemon.finish_jobs(outcomes jsonb) RETURNS SETOF text
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

-- Finishes one job inside the transaction that writes its effects; false when the lease is no longer held.
-- The transaction must not sit on the locked row for longer than a lease should its process be stopped.
CREATE FUNCTION mnemon.finish_job(job uuid, token uuid, outcome jsonb) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    UPDATE mnemon.jobs j
       SET status = 'DONE', lease_token = NULL, lease_until = NULL, result = outcome,
           finished_at = clock_timestamp(), updated_at = clock_timestamp()
     WHERE j.tenant_id = mnemon.current_tenant() AND j.job_id = job AND j.lease_token = token;
    RETURN FOUND;
END $$;

-- Ends an attempt that did not succeed: another try after a delay, or the end of the job with its reason.
CREATE FUNCTION mnemon.fail_job(
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
           lease_token = NULL, lease_until = NULL, updated_at = clock_timestamp()
     WHERE j.tenant_id = tenant AND j.job_id = job AND j.lease_token = token
    RETURNING j.status INTO outcome;
    RETURN outcome;
END $$;

-- Returns jobs unfinished: the attempt does not count, because the job did not fail.
CREATE FUNCTION mnemon.give_back_jobs(returned jsonb, delay interval) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    RETURN QUERY
        UPDATE mnemon.jobs j
           SET status = 'PENDING', attempts = j.attempts - 1, next_run_at = clock_timestamp() + delay,
               lease_token = NULL, lease_until = NULL, updated_at = clock_timestamp()
          FROM jsonb_to_recordset(returned) AS r(tenant_id uuid, job_id uuid, token uuid)
         WHERE j.tenant_id = r.tenant_id AND j.job_id = r.job_id AND j.lease_token = r.token
     RETURNING r.token::text;
    -- An idle worker of any kind looks; it is cheaper than to find out which.
    PERFORM pg_notify('mnemon_jobs', '*');
END $$;

-- Ends the attempts whose lease has run out, whoever held them. The wait before the next try is spread over the
-- whole back-off, so that jobs lost together with one that kills its worker do not meet it again.
CREATE FUNCTION mnemon.rescue_jobs(most integer)
    RETURNS TABLE (tenant_id uuid, job_id uuid, kind text, locked_by text, status text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
    lost record;
BEGIN
    FOR lost IN
        SELECT j.* FROM mnemon.jobs j
         WHERE j.status = 'PROCESSING' AND j.lease_until < clock_timestamp()
           FOR UPDATE SKIP LOCKED LIMIT most
    LOOP
        tenant_id := lost.tenant_id; job_id := lost.job_id; kind := lost.kind; locked_by := lost.locked_by;
        IF clock_timestamp() > lost.locked_at + make_interval(secs => lost.time_limit_seconds) THEN
            status := mnemon.fail_job(lost.tenant_id, lost.job_id, lost.lease_token, 'TIME_LIMIT', format(
                'The job ran past its limit of %s s and worker %s could not stop it.',
                lost.time_limit_seconds, lost.locked_by), false,
                random() * mnemon.job_backoff(lost.attempts, lost.backoff_seconds, lost.backoff_cap_seconds));
        ELSE
            status := mnemon.fail_job(lost.tenant_id, lost.job_id, lost.lease_token, 'WORKER_LOST', format(
                'Worker %s stopped answering and its lease ran out.', lost.locked_by), false,
                random() * mnemon.job_backoff(lost.attempts, lost.backoff_seconds, lost.backoff_cap_seconds));
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;

-- A tenant's own controls. A cancelled job loses its lease, so a worker that runs it can no longer write.
CREATE FUNCTION mnemon.cancel_job(job uuid) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    UPDATE mnemon.jobs j
       SET status = 'FAILED', next_run_at = NULL, lease_token = NULL, lease_until = NULL,
           last_error_code = 'CANCELLED', last_error_message = 'The job was cancelled.',
           finished_at = clock_timestamp(), updated_at = clock_timestamp()
     WHERE j.tenant_id = mnemon.current_tenant() AND j.job_id = job AND j.status IN ('PENDING', 'PROCESSING');
    IF FOUND THEN
        PERFORM pg_notify('mnemon_jobs_cancelled', job::text);
    END IF;
    RETURN FOUND;
END $$;

-- A dead job starts over with all its attempts; the history of its errors stays. A waiting one starts now.
CREATE FUNCTION mnemon.retry_job(job uuid) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    woken text;
BEGIN
    UPDATE mnemon.jobs j
       SET status = 'PENDING', attempts = CASE j.status WHEN 'FAILED' THEN 0 ELSE j.attempts END,
           next_run_at = clock_timestamp(), finished_at = NULL, updated_at = clock_timestamp()
     WHERE j.tenant_id = mnemon.current_tenant() AND j.job_id = job AND j.status IN ('FAILED', 'PENDING')
    RETURNING j.kind INTO woken;
    IF woken IS NOT NULL THEN
        PERFORM pg_notify('mnemon_jobs', woken);
    END IF;
    RETURN woken IS NOT NULL;
END $$;

-- The queue of all tenants in numbers, by kind.
CREATE FUNCTION mnemon.job_stats()
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
          FROM (SELECT p.kind, p.status, p.next_run_at, p.locked_at FROM mnemon.jobs p WHERE p.status = 'PENDING'
                UNION ALL
                SELECT r.kind, r.status, r.next_run_at, r.locked_at FROM mnemon.jobs r WHERE r.status = 'PROCESSING'
                UNION ALL
                SELECT f.kind, f.status, f.next_run_at, f.locked_at FROM mnemon.jobs f WHERE f.status = 'FAILED'
               ) AS j
         GROUP BY j.kind ORDER BY j.kind;
END $$;

-- Declares a schedule; one that is already known keeps its next time unless its rule changed.
CREATE FUNCTION mnemon.declare_schedule(schedule text, kind_of_job text, rule text, zone text, first_fire timestamptz)
    RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    BEGIN ATOMIC
        INSERT INTO mnemon.schedules (name, kind, cron, timezone, next_fire_at)
        VALUES (schedule, kind_of_job, rule, zone, first_fire)
            ON CONFLICT (name) DO UPDATE
           SET kind = excluded.kind, cron = excluded.cron, timezone = excluded.timezone,
               next_fire_at = CASE WHEN (schedules.cron, schedules.timezone) = (excluded.cron, excluded.timezone)
                                   THEN schedules.next_fire_at ELSE excluded.next_fire_at END;
    END;

-- Fires a schedule: of all workers that saw it due, the one that moves its next time enqueues the jobs, in the same
-- transaction. The system's job, or one for every tenant; none where the last one is still unfinished.
CREATE FUNCTION mnemon.fire_schedule(
    schedule text, seen timestamptz, next_fire timestamptz, every_tenant boolean, job_payload jsonb,
    attempts_limit integer, time_limit double precision, backoff double precision, backoff_cap double precision)
    RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    fired mnemon.schedules;
    added integer;
BEGIN
    UPDATE mnemon.schedules s SET last_fire_at = s.next_fire_at, next_fire_at = next_fire
     WHERE s.name = schedule AND s.next_fire_at = seen AND s.next_fire_at <= now()
    RETURNING s.* INTO fired;
    IF fired.name IS NULL THEN
        RETURN NULL;
    END IF;
    INSERT INTO mnemon.jobs (tenant_id, job_id, kind, payload, dedupe_key, max_attempts, time_limit_seconds,
                             backoff_seconds, backoff_cap_seconds)
    SELECT owner.tenant_id, mnemon.time_ordered_uuid(), fired.kind, job_payload, 'schedule/' || schedule, attempts_limit,
           time_limit, backoff, backoff_cap
      FROM (SELECT t.tenant_id FROM mnemon.tenants t WHERE every_tenant
             UNION ALL
            SELECT '00000000-0000-0000-0000-000000000000'::uuid WHERE NOT every_tenant) AS owner
        ON CONFLICT (tenant_id, kind, dedupe_key)
           WHERE dedupe_key IS NOT NULL AND status IN ('PENDING', 'PROCESSING') DO NOTHING;
    GET DIAGNOSTICS added = ROW_COUNT;
    PERFORM pg_notify('mnemon_jobs', fired.kind);
    RETURN added;
END $$;

-- Ends jobs that have been due for longer than `patience` while no living worker offered their kind in all that
-- time. A job that waits behind busy workers of its kind is never touched.
CREATE FUNCTION mnemon.fail_unclaimed_jobs(patience interval, most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    ended integer;
BEGIN
    WITH abandoned AS MATERIALIZED (
        SELECT j.tenant_id, j.job_id FROM mnemon.jobs j
         WHERE j.status = 'PENDING' AND j.next_run_at < now() - patience
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

-- Deletes finished jobs and silent workers that are older than asked, some at a time.
CREATE FUNCTION mnemon.delete_finished_jobs(done_before timestamptz, failed_before timestamptz, most integer)
    RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    deleted integer;
BEGIN
    DELETE FROM mnemon.jobs j USING (
        SELECT f.tenant_id, f.job_id FROM mnemon.jobs f
         WHERE (f.status = 'DONE' AND f.finished_at < done_before)
            OR (f.status = 'FAILED' AND f.finished_at < failed_before)
           FOR UPDATE SKIP LOCKED LIMIT most) AS old
     WHERE j.tenant_id = old.tenant_id AND j.job_id = old.job_id;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    DELETE FROM mnemon.workers w WHERE w.heartbeat_at < least(done_before, failed_before);
    RETURN deleted;
END $$;

DO $$
DECLARE
    callable regprocedure;
BEGIN
    FOREACH callable IN ARRAY ARRAY[
        'mnemon.claim_jobs(text, text[], integer[], integer, interval)',
        'mnemon.beat(text, uuid[], interval)',
        'mnemon.register_worker(text, text, integer, integer, text[])',
        'mnemon.unregister_worker(text)',
        'mnemon.finish_jobs(jsonb)',
        'mnemon.finish_job(uuid, uuid, jsonb)',
        'mnemon.fail_job(uuid, uuid, uuid, text, text, boolean, interval)',
        'mnemon.give_back_jobs(jsonb, interval)',
        'mnemon.rescue_jobs(integer)',
        'mnemon.cancel_job(uuid)',
        'mnemon.retry_job(uuid)',
        'mnemon.job_stats()',
        'mnemon.declare_schedule(text, text, text, text, timestamptz)',
        'mnemon.fire_schedule(text, timestamptz, timestamptz, boolean, jsonb, integer, double precision, double precision, double precision)',
        'mnemon.fail_unclaimed_jobs(interval, integer)',
        'mnemon.delete_finished_jobs(timestamptz, timestamptz, integer)']::regprocedure[]
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', callable);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO mnemon_app', callable);
    END LOOP;
END $$;
