-- The event log: partitions with their heads, events, payloads and the streams over them; who follows it and how far;
-- lenses; privacy.

-- The head of each chain. Whoever holds this row's lock decides what comes next in the partition.
CREATE TABLE mnemon.partitions (
    tenant_id    uuid NOT NULL,
    partition_id integer GENERATED ALWAYS AS IDENTITY UNIQUE,
    legal_entity text COLLATE "C" NOT NULL CHECK (legal_entity ~ '^[^[:cntrl:]]{1,100}$'),
    sequence     bigint NOT NULL DEFAULT 0,
    hash         bytea NOT NULL CHECK (length(hash) = 32),
    recorded_at  timestamptz NOT NULL DEFAULT 'epoch',
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, legal_entity)
) WITH (fillfactor = 50);
CALL mnemon.isolate_by_tenant('mnemon.partitions');
GRANT SELECT ON mnemon.partitions TO mnemon_app;

-- `envelope` holds the attested text; the other columns repeat parts of it so that streams can be read in order.
CREATE TABLE mnemon.events (
    tenant_id      uuid NOT NULL,
    partition_id   integer NOT NULL,
    sequence       bigint NOT NULL,
    id             text COLLATE "C" NOT NULL,
    type           text COLLATE "C" NOT NULL,
    occurred_at    timestamptz NOT NULL,
    effective_date date NOT NULL,
    recorded_at    timestamptz NOT NULL,
    actor_id       text COLLATE "C" NOT NULL,
    correlation_id text COLLATE "C" NOT NULL,
    caused_by      text COLLATE "C",
    envelope       text NOT NULL,
    payload_digest bytea NOT NULL,
    previous_hash  bytea NOT NULL,
    hash           bytea NOT NULL,
    PRIMARY KEY (tenant_id, partition_id, sequence),
    UNIQUE (tenant_id, partition_id, id)
) PARTITION BY LIST (partition_id);
CREATE INDEX events_by_type ON mnemon.events (type, sequence);
CREATE INDEX events_by_correlation ON mnemon.events (correlation_id, sequence);
CREATE INDEX events_by_actor ON mnemon.events (actor_id, sequence);
CREATE INDEX events_by_cause ON mnemon.events (caused_by, sequence) WHERE caused_by IS NOT NULL;
CALL mnemon.isolate_by_tenant('mnemon.events');
GRANT SELECT ON mnemon.events TO mnemon_app;

-- Apart from the envelope, so that archiving and redaction touch no envelope byte. NULL: not kept here any more.
CREATE TABLE mnemon.event_payloads (
    tenant_id    uuid NOT NULL,
    partition_id integer NOT NULL,
    sequence     bigint NOT NULL,
    payload      text,
    PRIMARY KEY (tenant_id, partition_id, sequence)
) PARTITION BY LIST (partition_id);
CALL mnemon.isolate_by_tenant('mnemon.event_payloads');
GRANT SELECT ON mnemon.event_payloads TO mnemon_app;

-- One row per (event, entity). The version counts the entity's events, this one included. NULL where nobody asked: such
-- a row adds one to the last version before it.
CREATE TABLE mnemon.event_entities (
    tenant_id    uuid NOT NULL,
    partition_id integer NOT NULL,
    version      integer,
    sequence     bigint NOT NULL,
    entity_id    text COLLATE "C" NOT NULL,
    entity_type  text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, partition_id, entity_id, entity_type, sequence) INCLUDE (version)
);
CALL mnemon.isolate_by_tenant('mnemon.event_entities');
GRANT SELECT ON mnemon.event_entities TO mnemon_app;

-- Tags, and the rarer scopes (division, region, site, intent, custom) that a stream is read by.
CREATE TABLE mnemon.event_labels (
    tenant_id    uuid NOT NULL,
    partition_id integer NOT NULL,
    sequence     bigint NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    value        text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, partition_id, kind, value, sequence)
);
CALL mnemon.isolate_by_tenant('mnemon.event_labels');
GRANT SELECT ON mnemon.event_labels TO mnemon_app;

-- Whose personal fields an event holds, and which.
CREATE TABLE mnemon.event_subjects (
    tenant_id    uuid NOT NULL,
    partition_id integer NOT NULL,
    sequence     bigint NOT NULL,
    subject_id   text COLLATE "C" NOT NULL,
    fields       text[] NOT NULL,
    PRIMARY KEY (tenant_id, subject_id, partition_id, sequence)
);
CALL mnemon.isolate_by_tenant('mnemon.event_subjects');
GRANT SELECT ON mnemon.event_subjects TO mnemon_app;

-- Idempotency and business keys, as digests. An expired key is free again.
CREATE TABLE mnemon.event_keys (
    tenant_id    uuid NOT NULL,
    partition_id integer NOT NULL,
    key          bytea NOT NULL,
    content      bytea NOT NULL,
    sequence     bigint NOT NULL,
    expires_at   timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (tenant_id, partition_id, key)
);
CREATE INDEX event_keys_by_expiry ON mnemon.event_keys (expires_at) WHERE expires_at < 'infinity';
CALL mnemon.isolate_by_tenant('mnemon.event_keys');
GRANT SELECT ON mnemon.event_keys TO mnemon_app;

-- The types that a tenant declared for itself. Nothing is ever taken out; the highest revision of a version holds.
CREATE TABLE mnemon.event_types (
    tenant_id      uuid NOT NULL,
    type           text COLLATE "C" NOT NULL,
    schema_version integer NOT NULL CHECK (schema_version > 0),
    revision       integer NOT NULL CHECK (revision > 0),
    declaration    json NOT NULL,
    registered_by  text NOT NULL,
    registered_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, type, schema_version, revision)
);
CALL mnemon.isolate_by_tenant('mnemon.event_types');
GRANT SELECT, INSERT ON mnemon.event_types TO mnemon_app;

CREATE TABLE mnemon.periods (
    tenant_id    uuid NOT NULL,
    legal_entity text COLLATE "C" NOT NULL,
    name         text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    starts_on    date NOT NULL,
    ends_on      date NOT NULL CHECK (ends_on >= starts_on),
    status       text NOT NULL CHECK (status IN ('open', 'soft_closed', 'hard_closed')),
    changed_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, legal_entity, name)
);
CALL mnemon.isolate_by_tenant('mnemon.periods');
GRANT SELECT, INSERT, UPDATE ON mnemon.periods TO mnemon_app;

-- Nobody changes what was recorded. Payloads have a guard of their own, where archiving and redaction have a narrow
-- path.
CALL mnemon.guard('mnemon.events', 'mnemon.refuse_change');
CALL mnemon.guard('mnemon.event_payloads', 'mnemon.refuse_payload_change');
CALL mnemon.guard('mnemon.event_entities', 'mnemon.refuse_change');
CALL mnemon.guard('mnemon.event_labels', 'mnemon.refuse_change');
CALL mnemon.guard('mnemon.event_subjects', 'mnemon.refuse_change');
CALL mnemon.guard('mnemon.event_types', 'mnemon.refuse_change');

-- Complete subtrees of the Merkle tree over a partition's hashes, from level 8 (256 events) up, so that a receipt
-- need not read the whole log. Each receipt is checked against a signed root, so nothing rests on these rows.
CREATE TABLE mnemon.merkle_nodes (
    tenant_id    uuid NOT NULL,
    partition_id integer NOT NULL,
    level        integer NOT NULL CHECK (level >= 8),
    place        bigint NOT NULL,
    hash         bytea NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (tenant_id, partition_id, level, place)
);
CALL mnemon.isolate_by_tenant('mnemon.merkle_nodes');
GRANT SELECT, INSERT ON mnemon.merkle_nodes TO mnemon_app;

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
    -- The last event of a batch that a subscriber claimed for itself: the lease ends with its acknowledgement.
    -- NULL if it is not known which that is; then the lease runs out, or its holder claims again.
    claimed_to      bigint,
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

-- Lenses: how far each has been rebuilt, snapshots of projections and of entities, and what keeps the erased out of
-- them.

-- The version whose code wrote the rows, 0 if none has yet, and the progress of the last rebuild.
CREATE TABLE mnemon.lens_states (
    tenant_id   uuid NOT NULL,
    lens        text COLLATE "C" NOT NULL CHECK (lens ~ '^[a-z0-9][a-z0-9._-]{0,93}$'),
    version     integer NOT NULL CHECK (version >= 0),
    done        bigint NOT NULL DEFAULT 0,
    total       bigint NOT NULL DEFAULT 0,
    state_hash  bytea,
    started_at  timestamptz,
    finished_at timestamptz,
    PRIMARY KEY (tenant_id, lens)
);
CALL mnemon.isolate_by_tenant('mnemon.lens_states');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.lens_states TO mnemon_app;

-- `positions` maps partition numbers to the last sequence that is in `state`.
CREATE TABLE mnemon.projection_snapshots (
    tenant_id   uuid NOT NULL,
    projection  text COLLATE "C" NOT NULL,
    stream      text COLLATE "C" NOT NULL DEFAULT '',
    snapshot_id bigint GENERATED ALWAYS AS IDENTITY,
    version     integer NOT NULL,
    positions   jsonb NOT NULL,
    events      bigint NOT NULL,
    state       jsonb NOT NULL,
    personal    boolean NOT NULL,
    taken_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, projection, stream, snapshot_id)
);
CALL mnemon.isolate_by_tenant('mnemon.projection_snapshots');
GRANT SELECT, INSERT, DELETE ON mnemon.projection_snapshots TO mnemon_app;

-- `as_of_point` is the latest effective date in the state: an event recorded later with an earlier one makes it stale.
CREATE TABLE mnemon.entity_snapshots (
    tenant_id      uuid NOT NULL,
    partition_id   integer NOT NULL,
    entity_type    text COLLATE "C" NOT NULL,
    entity_id      text COLLATE "C" NOT NULL,
    as_of_sequence bigint NOT NULL,
    version        bigint NOT NULL,
    fold_version   integer NOT NULL,
    as_of_point    date NOT NULL,
    state          jsonb NOT NULL,
    status         text NOT NULL DEFAULT 'valid' CHECK (status IN ('valid', 'stale')),
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, partition_id, entity_type, entity_id, as_of_sequence)
);
CALL mnemon.isolate_by_tenant('mnemon.entity_snapshots');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.entity_snapshots TO mnemon_app;

-- Raised whenever a person is erased. What was read under an earlier number may hold that person and is not written.
CREATE TABLE mnemon.erasure_epochs (
    tenant_id uuid PRIMARY KEY,
    epoch     bigint NOT NULL DEFAULT 0
);
CALL mnemon.isolate_by_tenant('mnemon.erasure_epochs');
GRANT SELECT, INSERT, UPDATE ON mnemon.erasure_epochs TO mnemon_app;

-- Privacy: a key per person, the record of erasures, and the only ways in which a stored payload may change.

-- Key-encryption keys that data keys are wrapped with, by their fingerprints. The keys themselves are never here.
CREATE TABLE mnemon.wrapping_keys (
    key_id   text COLLATE "C" PRIMARY KEY,
    added_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT ON mnemon.wrapping_keys TO mnemon_app;

-- One data key per person and generation, wrapped. A destroyed one stays as a tombstone without its key.
CREATE TABLE mnemon.subject_keys (
    tenant_id    uuid NOT NULL,
    subject_id   text COLLATE "C" NOT NULL CHECK (length(subject_id) BETWEEN 1 AND 200),
    generation   integer NOT NULL CHECK (generation > 0),
    key_id       text COLLATE "C" REFERENCES mnemon.wrapping_keys,
    wrapped_key  bytea,
    created_at   timestamptz NOT NULL DEFAULT now(),
    rewrapped_at timestamptz,
    destroyed_at timestamptz,
    PRIMARY KEY (tenant_id, subject_id, generation),
    CHECK ((destroyed_at IS NULL) = (wrapped_key IS NOT NULL)),
    CHECK ((wrapped_key IS NULL) = (key_id IS NULL))
);
CREATE UNIQUE INDEX subject_keys_one_living ON mnemon.subject_keys (tenant_id, subject_id) WHERE destroyed_at IS NULL;
CREATE INDEX subject_keys_by_wrapping_key ON mnemon.subject_keys (key_id, tenant_id, subject_id)
    WHERE key_id IS NOT NULL;
CALL mnemon.isolate_by_tenant('mnemon.subject_keys');
GRANT SELECT ON mnemon.subject_keys TO mnemon_app;
CREATE TRIGGER stays_destroyed BEFORE UPDATE OR DELETE ON mnemon.subject_keys
    FOR EACH ROW EXECUTE FUNCTION mnemon.keep_tombstones();
CREATE TRIGGER is_never_emptied BEFORE TRUNCATE ON mnemon.subject_keys EXECUTE FUNCTION mnemon.refuse_change();
CREATE TRIGGER holds_the_keys AFTER INSERT ON mnemon.event_subjects
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION mnemon.hold_subject_keys();

-- The deletion log.
CREATE TABLE mnemon.erasures (
    tenant_id        uuid NOT NULL,
    erasure_id       text COLLATE "C" NOT NULL,
    subject_id       text COLLATE "C" NOT NULL,
    reason           text NOT NULL CHECK (reason ~ '^[a-z][a-z0-9_]{1,59}$'),
    reference        text CHECK (reference ~ '^[A-Za-z0-9#/_.:-]{1,100}$'),
    status           text NOT NULL DEFAULT 'requested'
                     CHECK (status IN ('requested', 'declined', 'key_destroyed', 'completed')),
    requested_by     text NOT NULL,
    requested_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    decided_by       text CHECK (status = 'declined' OR decided_by <> requested_by),
    decided_at       timestamptz,
    key_destroyed_at timestamptz,
    events_affected  bigint,
    lenses_rebuilt   text[] NOT NULL DEFAULT '{}',
    completed_at     timestamptz,
    last_error       text,
    PRIMARY KEY (tenant_id, erasure_id),
    CHECK ((status = 'requested') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)),
    CHECK ((status IN ('key_destroyed', 'completed')) = (key_destroyed_at IS NOT NULL)),
    CHECK ((key_destroyed_at IS NULL) = (events_affected IS NULL)),
    CHECK ((status = 'completed') = (completed_at IS NOT NULL))
);
CREATE UNIQUE INDEX erasures_one_open ON mnemon.erasures (tenant_id, subject_id) WHERE status = 'requested';
CREATE INDEX erasures_by_subject ON mnemon.erasures (tenant_id, subject_id, requested_at);
CALL mnemon.isolate_by_tenant('mnemon.erasures');
GRANT SELECT, INSERT (tenant_id, erasure_id, subject_id, reason, reference, requested_by)
   ON mnemon.erasures TO mnemon_app;
GRANT UPDATE (status, decided_by, decided_at, lenses_rebuilt, completed_at, last_error)
   ON mnemon.erasures TO mnemon_app;
CREATE TRIGGER only_goes_on BEFORE UPDATE OR DELETE ON mnemon.erasures
    FOR EACH ROW EXECUTE FUNCTION mnemon.keep_erasures();
CREATE TRIGGER is_never_emptied BEFORE TRUNCATE ON mnemon.erasures EXECUTE FUNCTION mnemon.refuse_change();

-- What was taken out of payloads that were stored in plain text. The events' own digests stay as they were.
CREATE TABLE mnemon.redactions (
    tenant_id    uuid NOT NULL,
    partition_id integer NOT NULL,
    sequence     bigint NOT NULL,
    number       integer NOT NULL CHECK (number > 0),
    old_digest   bytea NOT NULL CHECK (length(old_digest) = 32),
    new_digest   bytea NOT NULL CHECK (length(new_digest) = 32),
    attested_by  text COLLATE "C" NOT NULL,
    redacted_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, partition_id, sequence, number),
    UNIQUE (tenant_id, partition_id, attested_by)
);
CALL mnemon.isolate_by_tenant('mnemon.redactions');
GRANT SELECT ON mnemon.redactions TO mnemon_app;
CALL mnemon.guard('mnemon.redactions', 'mnemon.refuse_change');

-- Where payloads are that are no longer in `event_payloads`: one object of the archive store per range.
CREATE TABLE mnemon.archives (
    tenant_id      uuid NOT NULL,
    partition_id   integer NOT NULL,
    first_sequence bigint NOT NULL,
    last_sequence  bigint NOT NULL CHECK (last_sequence >= first_sequence),
    object_key     text COLLATE "C" NOT NULL,
    object_digest  bytea NOT NULL CHECK (length(object_digest) = 32),
    object_bytes   bigint NOT NULL,
    payload_bytes  bigint NOT NULL,
    state          text NOT NULL CHECK (state IN ('writing', 'stored', 'restored')),
    changed_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, partition_id, first_sequence)
);
CALL mnemon.isolate_by_tenant('mnemon.archives');
GRANT SELECT ON mnemon.archives TO mnemon_app;

-- Redactions that one person asked for, until another approves or declines.
CREATE TABLE mnemon.redaction_requests (
    tenant_id    uuid NOT NULL,
    redaction_id text COLLATE "C" NOT NULL,
    event_id     text COLLATE "C" NOT NULL,
    fields       text[] NOT NULL CHECK (cardinality(fields) > 0),
    subject_id   text COLLATE "C",
    reason       text NOT NULL CHECK (reason ~ '^[a-z][a-z0-9_]{1,59}$'),
    reference    text CHECK (reference ~ '^[A-Za-z0-9#/_.:-]{1,100}$'),
    status       text NOT NULL DEFAULT 'requested'
                 CHECK (status IN ('requested', 'declined', 'redacted', 'completed')),
    requested_by text NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    decided_by   text CHECK (status = 'declined' OR decided_by <> requested_by),
    decided_at   timestamptz,
    -- The event that says what was taken out; none if nothing was left to take.
    attested_by  text COLLATE "C" CHECK (attested_by IS NULL OR status IN ('redacted', 'completed')),
    lenses_rebuilt text[] NOT NULL DEFAULT '{}',
    last_error   text,
    PRIMARY KEY (tenant_id, redaction_id),
    CHECK ((status = 'requested') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL))
);
CALL mnemon.isolate_by_tenant('mnemon.redaction_requests');
GRANT SELECT, INSERT (tenant_id, redaction_id, event_id, fields, subject_id, reason, reference, requested_by)
   ON mnemon.redaction_requests TO mnemon_app;
GRANT UPDATE (status, decided_by, decided_at, attested_by, lenses_rebuilt, last_error)
   ON mnemon.redaction_requests TO mnemon_app;
CREATE TRIGGER only_goes_on BEFORE UPDATE OR DELETE ON mnemon.redaction_requests
    FOR EACH ROW EXECUTE FUNCTION mnemon.keep_redaction_requests();
CREATE TRIGGER is_never_emptied BEFORE TRUNCATE ON mnemon.redaction_requests EXECUTE FUNCTION mnemon.refuse_change();
