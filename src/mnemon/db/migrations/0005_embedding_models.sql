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
CREATE UNIQUE INDEX embedding_models_one_filling ON mnemon.embedding_models (tenant_id, relation) WHERE state = 'filling';
CALL mnemon.isolate_by_tenant('mnemon.embedding_models');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.embedding_models TO mnemon_app;
