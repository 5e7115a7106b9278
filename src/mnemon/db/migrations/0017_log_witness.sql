-- What this Mnemon keeps as a witness of other logs: their signed roots, and what proves that each grew out of the one
-- before it. `origin` is the tenant of the other Mnemon; `tenant_id` whose credential it came with.
CREATE TABLE mnemon.witnessed_checkpoints (
    tenant_id    uuid NOT NULL,
    origin       text COLLATE "C" NOT NULL CHECK (length(origin) BETWEEN 1 AND 100),
    legal_entity text COLLATE "C" NOT NULL CHECK (length(legal_entity) BETWEEN 1 AND 100),
    sequence     bigint NOT NULL CHECK (sequence > 0),
    root         bytea NOT NULL CHECK (length(root) = 32),
    public_key   text COLLATE "C" NOT NULL,
    checkpoint   json NOT NULL,
    path         text[] NOT NULL,
    kept_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, origin, legal_entity, sequence)
);
CALL mnemon.isolate_by_tenant('mnemon.witnessed_checkpoints');
CALL mnemon.guard('mnemon.witnessed_checkpoints', 'mnemon.refuse_change');
GRANT SELECT, INSERT ON mnemon.witnessed_checkpoints TO mnemon_app;
