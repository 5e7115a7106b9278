-- Who is told of what the log says: addresses that are called, and people who are written to.
CREATE TABLE mnemon.recipients (
    tenant_id    uuid NOT NULL,
    recipient_id uuid NOT NULL,
    way          text NOT NULL CHECK (way IN ('webhook', 'e-mail')),
    -- What a webhook is called; of an e-mail address, its digest.
    name         text NOT NULL,
    -- Where it goes and what it is signed with, sealed with the key of the subject `recipient:ID`.
    sealed       bytea NOT NULL,
    -- As brokers write them: `report.*`, `#`.
    event_types  text[] NOT NULL CHECK (cardinality(event_types) > 0),
    -- Of reports these alone; none for all.
    report_kinds text[] NOT NULL DEFAULT '{}',
    paused       boolean NOT NULL DEFAULT false,
    created_by   text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, recipient_id),
    UNIQUE (tenant_id, way, name)
);
CALL mnemon.isolate_by_tenant('mnemon.recipients');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.recipients TO mnemon_app;

-- One job for each event that somebody is told of: an event that is followed twice is told once. It goes with its job.
CREATE TABLE mnemon.deliveries (
    tenant_id    uuid NOT NULL,
    recipient_id uuid NOT NULL,
    event_id     text NOT NULL,
    event_type   text NOT NULL,
    job_id       uuid NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, recipient_id, event_id),
    FOREIGN KEY (tenant_id, recipient_id) REFERENCES mnemon.recipients ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, job_id) REFERENCES mnemon.jobs ON DELETE CASCADE
);
CREATE INDEX deliveries_by_job ON mnemon.deliveries (tenant_id, job_id);
CALL mnemon.isolate_by_tenant('mnemon.deliveries');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.deliveries TO mnemon_app;

DROP TRIGGER leaves_its_failure ON mnemon.jobs;
CREATE TRIGGER leaves_its_failure AFTER UPDATE OF status ON mnemon.jobs
    FOR EACH ROW
    WHEN (NEW.status = 'FAILED' AND OLD.status IS DISTINCT FROM NEW.status
          AND NEW.kind IN ('mail.passages', 'reports.orchestrate', 'reports.summarize', 'reports.deliver'))
    EXECUTE FUNCTION mnemon.leave_failure_to_record();
