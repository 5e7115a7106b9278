-- Subscriptions: who follows the log, how far each has come in each partition, and what could not be delivered yet.

CREATE TABLE mnemon.subscriptions (
    tenant_id            uuid NOT NULL,
    subscription_id      text COLLATE "C" NOT NULL CHECK (subscription_id ~ '^[a-z0-9][a-z0-9._:-]{0,99}$'),
    subscriber_type      text NOT NULL CHECK (subscriber_type ~ '^[a-z][a-z0-9_-]{0,49}$'),
    subscriber_id        text NOT NULL CHECK (length(subscriber_id) BETWEEN 1 AND 200),
    pattern              jsonb NOT NULL,
    -- What waits behind an event that failed: later events of its entities, or the whole partition.
    failure_holds        text NOT NULL CHECK (failure_holds IN ('entity', 'partition')),
    status               text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'broken')),
    probe_at             timestamptz,
    trips                integer NOT NULL DEFAULT 0,
    failures_in_a_row    integer NOT NULL DEFAULT 0,
    error_count          bigint NOT NULL DEFAULT 0,
    last_error           text,
    last_error_at        timestamptz,
    last_error_partition integer,
    last_error_sequence  bigint,
    created_at           timestamptz NOT NULL DEFAULT now(),
    updated_at           timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, subscription_id),
    CHECK ((status = 'broken') = (probe_at IS NOT NULL))
);
CALL mnemon.isolate_by_tenant('mnemon.subscriptions');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.subscriptions TO mnemon_app;

-- Everything up to `sequence` is settled: handled, of no interest, or parked.
-- Whoever takes a partition raises `token`; every later change by a holder must show the token it was given.
CREATE TABLE mnemon.subscription_cursors (
    tenant_id       uuid NOT NULL,
    subscription_id text COLLATE "C" NOT NULL,
    partition_id    integer NOT NULL,
    sequence        bigint NOT NULL DEFAULT 0 CHECK (sequence >= 0),
    token           bigint NOT NULL DEFAULT 0,
    holder          text,
    held_until      timestamptz NOT NULL DEFAULT '-infinity',
    attempts        integer NOT NULL DEFAULT 0,
    due_at          timestamptz NOT NULL DEFAULT '-infinity',
    advanced_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, subscription_id, partition_id),
    FOREIGN KEY (tenant_id, subscription_id) REFERENCES mnemon.subscriptions ON DELETE CASCADE
) WITH (fillfactor = 50);
CALL mnemon.isolate_by_tenant('mnemon.subscription_cursors');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.subscription_cursors TO mnemon_app;

-- Events behind the cursor that are not handled yet. They are named, never copied; `error` says why, `entities` what
-- must wait behind them. retrying: tried again at due_at; waiting: behind an earlier one; dead: until someone decides.
CREATE TABLE mnemon.parked_events (
    tenant_id       uuid NOT NULL,
    subscription_id text COLLATE "C" NOT NULL,
    partition_id    integer NOT NULL,
    sequence        bigint NOT NULL,
    event_id        text COLLATE "C" NOT NULL,
    type            text COLLATE "C" NOT NULL,
    entities        jsonb NOT NULL,
    state           text NOT NULL CHECK (state IN ('retrying', 'waiting', 'dead')),
    attempts        integer NOT NULL DEFAULT 0,
    error           text,
    parked_at       timestamptz NOT NULL DEFAULT now(),
    failed_at       timestamptz,
    due_at          timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (tenant_id, subscription_id, partition_id, sequence),
    FOREIGN KEY (tenant_id, subscription_id) REFERENCES mnemon.subscriptions ON DELETE CASCADE,
    CHECK (state <> 'dead' OR due_at = 'infinity')
);
CALL mnemon.isolate_by_tenant('mnemon.parked_events');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.parked_events TO mnemon_app;

-- Which tenants have something for subscriptions that exist in every tenant, by their names. It tells a process
-- where to look, and nothing of what is there. A tenant that has no such subscription yet has not begun.
CREATE FUNCTION mnemon.tenants_behind(names text[]) RETURNS TABLE (tenant_id uuid, subscription_id text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT DISTINCT p.tenant_id, name
      FROM mnemon.partitions p
     CROSS JOIN unnest(names) AS name
      LEFT JOIN mnemon.subscriptions s ON s.tenant_id = p.tenant_id AND s.subscription_id = name
      LEFT JOIN mnemon.subscription_cursors c
        ON c.tenant_id = p.tenant_id AND c.subscription_id = name AND c.partition_id = p.partition_id
     WHERE p.sequence > coalesce(c.sequence, 0)
       AND coalesce(c.due_at, '-infinity') <= clock_timestamp()
       AND (s.status IS NULL OR s.status = 'active' OR s.status = 'broken' AND s.probe_at <= clock_timestamp())
$$;
REVOKE EXECUTE ON FUNCTION mnemon.tenants_behind FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.tenants_behind TO mnemon_app;
