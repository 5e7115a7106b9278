-- Documents and their revisions.

CREATE TABLE mnemon.documents (
    tenant_id   uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    doc_id      uuid NOT NULL,
    source_type text NOT NULL,
    source_uri  text NOT NULL,
    title       text NOT NULL,
    tags        text[] NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, doc_id),
    UNIQUE (tenant_id, source_uri)
);
CALL mnemon.isolate_by_tenant('mnemon.documents');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.documents TO mnemon_app;

CREATE TABLE mnemon.document_versions (
    tenant_id         uuid NOT NULL,
    doc_version_id    uuid NOT NULL,
    doc_id            uuid NOT NULL,
    version_number    integer NOT NULL,
    version_label     text,
    content_hash      text NOT NULL,
    text_hash         text NOT NULL,
    extractor         text NOT NULL,
    media_type        text NOT NULL,
    original_filename text,
    size_bytes        bigint NOT NULL,
    char_count        integer NOT NULL,
    page_count        integer,
    is_active         boolean NOT NULL,
    written_at        timestamptz,
    authors           text[] NOT NULL DEFAULT '{}',
    participants      text[] NOT NULL DEFAULT '{}',
    details           jsonb NOT NULL DEFAULT '{}',
    created_at        timestamptz NOT NULL DEFAULT now(),
    activated_at      timestamptz,
    deactivated_at    timestamptz,
    purged_at         timestamptz,
    PRIMARY KEY (tenant_id, doc_version_id),
    FOREIGN KEY (tenant_id, doc_id) REFERENCES mnemon.documents ON DELETE CASCADE
);
CREATE UNIQUE INDEX document_versions_one_active ON mnemon.document_versions (tenant_id, doc_id) WHERE is_active;
CALL mnemon.isolate_by_tenant('mnemon.document_versions');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.document_versions TO mnemon_app;

CREATE TABLE mnemon.revision_texts (
    tenant_id      uuid NOT NULL,
    doc_version_id uuid NOT NULL,
    text           text NOT NULL,
    blocks         jsonb NOT NULL DEFAULT '[]',
    pages          bytea,
    PRIMARY KEY (tenant_id, doc_version_id)
);
CALL mnemon.isolate_by_tenant('mnemon.revision_texts');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.revision_texts TO mnemon_app;
