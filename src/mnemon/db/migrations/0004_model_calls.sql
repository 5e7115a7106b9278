-- The audit of calls to language models. It holds no prompt and no answer, so there is nothing in it to forget.

CREATE TABLE mnemon.model_calls (
    tenant_id      uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    call_id        uuid NOT NULL,
    called_at      timestamptz NOT NULL DEFAULT now(),
    prompt_name    text NOT NULL CHECK (length(prompt_name) BETWEEN 1 AND 200),
    prompt_version integer NOT NULL CHECK (prompt_version >= 1),
    prompt_digest  bytea NOT NULL CHECK (length(prompt_digest) = 32),
    model          text NOT NULL,
    outcome        text NOT NULL CHECK (outcome IN ('answered', 'failed', 'cancelled')),
    error_code     text,
    requests       integer NOT NULL CHECK (requests >= 0),
    input_tokens   integer NOT NULL CHECK (input_tokens >= 0),
    output_tokens  integer NOT NULL CHECK (output_tokens >= 0),
    cost_dollars   numeric CHECK (cost_dollars >= 0),
    milliseconds   integer NOT NULL CHECK (milliseconds >= 0),
    PRIMARY KEY (tenant_id, call_id),
    CHECK ((outcome = 'failed') = (error_code IS NOT NULL))
);
CREATE INDEX model_calls_by_time ON mnemon.model_calls (tenant_id, called_at);
CALL mnemon.isolate_by_tenant('mnemon.model_calls');
GRANT SELECT, INSERT ON mnemon.model_calls TO mnemon_app;
