-- What was signed, told a second time: the files outside the database say what the log was, these rows which files
-- there must be. Neither can be shortened alone.

-- Which keys may sign a tenant's checkpoints. Each but the first was announced by the one before it.
CREATE TABLE mnemon.signing_keys (
    tenant_id  uuid NOT NULL,
    number     integer NOT NULL CHECK (number > 0),
    public_key text COLLATE "C" NOT NULL CHECK (public_key ~ '^[0-9a-f]{64}$'),
    -- What the earlier key signed; NULL for the first one, and for one that the operator brought in by hand.
    handover   json,
    pinned_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, number)
);
CALL mnemon.isolate_by_tenant('mnemon.signing_keys');
CALL mnemon.guard('mnemon.signing_keys', 'mnemon.refuse_change');
GRANT SELECT, INSERT ON mnemon.signing_keys TO mnemon_app;

CREATE TABLE mnemon.checkpoints (
    tenant_id    uuid NOT NULL,
    legal_entity text COLLATE "C" NOT NULL,
    number       integer NOT NULL CHECK (number > 0),
    sequence     bigint NOT NULL CHECK (sequence > 0),
    digest       bytea NOT NULL CHECK (length(digest) = 32),
    PRIMARY KEY (tenant_id, legal_entity, number)
);
CALL mnemon.isolate_by_tenant('mnemon.checkpoints');
CALL mnemon.guard('mnemon.checkpoints', 'mnemon.refuse_change');
GRANT SELECT, INSERT ON mnemon.checkpoints TO mnemon_app;

-- How far each partition is signed, by a checkpoint or by the seal that takes the place of the one before it.
CREATE TABLE mnemon.seals (
    tenant_id    uuid NOT NULL,
    legal_entity text COLLATE "C" NOT NULL,
    sequence     bigint NOT NULL CHECK (sequence > 0),
    digest       bytea NOT NULL CHECK (length(digest) = 32),
    PRIMARY KEY (tenant_id, legal_entity)
) WITH (fillfactor = 50);
CALL mnemon.isolate_by_tenant('mnemon.seals');
GRANT SELECT, INSERT, UPDATE ON mnemon.seals TO mnemon_app;
CREATE TRIGGER only_goes_on BEFORE UPDATE OR DELETE ON mnemon.seals
    FOR EACH ROW EXECUTE FUNCTION mnemon.keep_seals();
CREATE TRIGGER is_never_emptied BEFORE TRUNCATE ON mnemon.seals EXECUTE FUNCTION mnemon.refuse_change();
