-- What two people agree to: one asks, another gives or declines it with a credential of their own, and the one who asked
-- names it in the act. Each step is an event of the log; this is where it is looked up.
CREATE TABLE mnemon.approvals (
    tenant_id    uuid NOT NULL,
    approval_id  uuid NOT NULL,
    act          text NOT NULL CHECK (act IN ('periods.open', 'events.append')),
    legal_entity text NOT NULL,
    period       text NOT NULL,
    reason       text NOT NULL CHECK (length(reason) BETWEEN 1 AND 1000),
    status       text NOT NULL DEFAULT 'requested',
    requested_by text NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT now(),
    decided_by   text,
    decided_at   timestamptz,
    expires_at   timestamptz,
    used_at      timestamptz,
    PRIMARY KEY (tenant_id, approval_id),
    CONSTRAINT a_known_approval_status CHECK (status IN ('requested', 'approved', 'declined', 'used')),
    CONSTRAINT decided_by_someone CHECK ((status = 'requested') = (decided_by IS NULL)),
    CONSTRAINT two_people CHECK (status IN ('requested', 'declined') OR decided_by <> requested_by),
    CONSTRAINT approved_until CHECK ((status IN ('approved', 'used')) = (expires_at IS NOT NULL))
);
CREATE INDEX approvals_by_age ON mnemon.approvals (tenant_id, requested_at DESC, approval_id);
CALL mnemon.isolate_by_tenant('mnemon.approvals');
GRANT SELECT, INSERT ON mnemon.approvals TO mnemon_app;
GRANT UPDATE (status, decided_by, decided_at, expires_at, used_at) ON mnemon.approvals TO mnemon_app;

-- Sessions that their owners ended before their time.
CREATE TABLE mnemon.ended_sessions (
    tenant_id  uuid NOT NULL,
    user_id    uuid NOT NULL,
    session_id uuid NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, session_id)
);
CALL mnemon.isolate_by_tenant('mnemon.ended_sessions');
GRANT SELECT, INSERT, DELETE ON mnemon.ended_sessions TO mnemon_app;
