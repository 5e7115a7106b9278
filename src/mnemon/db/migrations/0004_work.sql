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
    delayed             boolean NOT NULL DEFAULT false,
    -- How far a running job has come, in its own words.
    progress            jsonb,
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

-- Kinds take turns at a worker, and tenants within a kind, so that no queue, however long, starves another. For that
-- the jobs that may run now lie in an index by tenant, and those that were put off in one by time; any worker moves a
-- job from the one to the other when its time has come. Partial and few: a success costs one entry here for each of
-- its states but the last. A heartbeat writes none.
CREATE INDEX jobs_waiting ON mnemon.jobs (kind, priority DESC, tenant_id, next_run_at)
    WHERE status = 'PENDING' AND NOT delayed;
CREATE INDEX jobs_delayed ON mnemon.jobs (next_run_at) WHERE status = 'PENDING' AND delayed;
CREATE INDEX jobs_processing ON mnemon.jobs (kind) WHERE status = 'PROCESSING';
CREATE INDEX jobs_failed ON mnemon.jobs (kind, finished_at) WHERE status = 'FAILED';
CREATE UNIQUE INDEX jobs_unfinished_twin ON mnemon.jobs (tenant_id, kind, dedupe_key)
    WHERE dedupe_key IS NOT NULL AND status IN ('PENDING', 'PROCESSING');
CREATE TRIGGER marks_delayed BEFORE INSERT ON mnemon.jobs
    FOR EACH ROW WHEN (NEW.next_run_at > now()) EXECUTE FUNCTION mnemon.mark_delayed();
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
