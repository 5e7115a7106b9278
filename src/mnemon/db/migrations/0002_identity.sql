-- People, their access tokens, one-time login links, and the guard against password guessing.

CREATE TABLE mnemon.users (
    tenant_id           uuid NOT NULL REFERENCES mnemon.tenants,
    user_id             uuid NOT NULL UNIQUE,
    email               text NOT NULL CHECK (email ~ '^[^@\s]+@[^@\s]+$' AND length(email) <= 254),
    name                text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    role                text NOT NULL CHECK (role IN ('admin', 'user')),
    password_hash       text,
    created_at          timestamptz NOT NULL DEFAULT now(),
    disabled_at         timestamptz,
    -- Sessions that began before this moment are refused: set by a new password, a new role, a disabled account.
    sessions_valid_from timestamptz NOT NULL DEFAULT 'epoch',
    PRIMARY KEY (tenant_id, user_id)
);
CREATE UNIQUE INDEX users_by_email ON mnemon.users (tenant_id, lower(email));
CALL mnemon.isolate_by_tenant('mnemon.users');
GRANT SELECT, INSERT, UPDATE ON mnemon.users TO mnemon_app;

CREATE TABLE mnemon.access_tokens (
    tenant_id    uuid NOT NULL,
    token_id     uuid NOT NULL,
    user_id      uuid NOT NULL,
    name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    scope        text NOT NULL CHECK (scope IN ('read', 'write')),
    secret_hash  bytea NOT NULL UNIQUE CHECK (length(secret_hash) = 32),
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz,
    revoked_at   timestamptz,
    last_used_at timestamptz,
    PRIMARY KEY (tenant_id, token_id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES mnemon.users
);
CREATE INDEX access_tokens_by_user ON mnemon.access_tokens (tenant_id, user_id, created_at);
CALL mnemon.isolate_by_tenant('mnemon.access_tokens');
GRANT SELECT, INSERT, UPDATE ON mnemon.access_tokens TO mnemon_app;

CREATE TABLE mnemon.login_links (
    secret_hash bytea PRIMARY KEY CHECK (length(secret_hash) = 32),
    tenant_id   uuid NOT NULL,
    user_id     uuid NOT NULL,
    expires_at  timestamptz NOT NULL,
    used_at     timestamptz,
    FOREIGN KEY (tenant_id, user_id) REFERENCES mnemon.users
);
CALL mnemon.isolate_by_tenant('mnemon.login_links');
CREATE INDEX login_links_by_user ON mnemon.login_links (tenant_id, user_id) WHERE used_at IS NULL;
GRANT SELECT, INSERT, UPDATE (used_at) ON mnemon.login_links TO mnemon_app;

-- Keys are digests of an account's or an address's name, so this table says nothing about who exists.
CREATE TABLE mnemon.login_attempts (
    key_hash     bytea PRIMARY KEY CHECK (length(key_hash) = 32),
    failures     integer NOT NULL,
    last_attempt timestamptz NOT NULL,
    open_again   timestamptz NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.login_attempts TO mnemon_app;
