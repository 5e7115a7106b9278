-- The last verification of each tenant, for `/ready`. What it found is told by its event.
CREATE TABLE mnemon.verification_results (
    tenant_id   uuid PRIMARY KEY,
    verified_at timestamptz NOT NULL,
    -- The last one that looked at everything and not only at what was new and a part of the old.
    complete_at timestamptz,
    findings    integer NOT NULL CHECK (findings >= 0),
    event_id    text COLLATE "C" NOT NULL
);
CALL mnemon.isolate_by_tenant('mnemon.verification_results');
GRANT SELECT, INSERT, UPDATE ON mnemon.verification_results TO mnemon_app;
