-- What threads came to. The lens `mail_consensus` writes it from the log; words and names are looked up in the messages.

CREATE TABLE mnemon.mail_consensus (
    tenant_id      uuid NOT NULL,
    thread_key     text NOT NULL CHECK (thread_key ~ '^[0-9a-f]{16}$'),
    -- Of the revisions that were read: another one says that the thread changed since.
    digest         text NOT NULL,
    consensus_type text NOT NULL CHECK (consensus_type IN ('agreement', 'dissent', 'mixed', 'none')),
    confidence     double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    unresolved     integer NOT NULL CHECK (unresolved >= 0),
    read_by        text NOT NULL,
    found          jsonb NOT NULL,
    event_id       text NOT NULL,
    read_at        timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, thread_key)
);
CREATE INDEX mail_consensus_by_type ON mnemon.mail_consensus (tenant_id, consensus_type, thread_key);
CALL mnemon.isolate_by_tenant('mnemon.mail_consensus');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.mail_consensus TO mnemon_app;
