-- Models: what language models were asked, and which model's vectors searches use.

-- The audit of calls. It holds no prompt and no answer, so there is nothing in it to forget.
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

-- Which model's vectors a tenant's searches use, per table of vectors, and which are on their way in or out.
-- filling -> active -> retired -> row deleted: a new model fills up while searches stay with the active one.
CREATE TABLE mnemon.embedding_models (
    tenant_id  uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    relation   text NOT NULL,
    model_id   text NOT NULL CHECK (length(model_id) BETWEEN 1 AND 300),
    dimension  integer NOT NULL CHECK (dimension BETWEEN 1 AND 4000),
    state      text NOT NULL CHECK (state IN ('filling', 'active', 'retired')),
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, relation, model_id)
);
CREATE UNIQUE INDEX embedding_models_one_active ON mnemon.embedding_models (tenant_id, relation) WHERE state = 'active';
CREATE UNIQUE INDEX embedding_models_one_filling ON mnemon.embedding_models (tenant_id, relation)
    WHERE state = 'filling';
CALL mnemon.isolate_by_tenant('mnemon.embedding_models');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.embedding_models TO mnemon_app;
