-- How far this database has followed the erasure lists that are kept outside it, with the keys. A database that was
-- restored from an old copy knows less of a list than the list holds, and so finds what it has to do again.
CREATE TABLE mnemon.erasure_lists (
    list_id       uuid PRIMARY KEY,
    applied_bytes bigint NOT NULL CHECK (applied_bytes >= 0),
    noted_until   timestamptz
);
-- Erasures done again whose derived data is still to be made anew.
CREATE TABLE mnemon.repeated_erasures (
    tenant_id  uuid NOT NULL,
    subject_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, subject_id)
);
CALL mnemon.isolate_by_tenant('mnemon.repeated_erasures');
CREATE INDEX subject_keys_by_destruction ON mnemon.subject_keys (destroyed_at) WHERE destroyed_at IS NOT NULL;
