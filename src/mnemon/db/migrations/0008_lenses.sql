-- Lenses: how far each has been rebuilt, snapshots of projections and of entities, and what keeps the erased out of them.

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
