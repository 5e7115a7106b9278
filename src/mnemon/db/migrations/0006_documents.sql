-- Documents: the lens that the log's events are folded into, the text that is derived from the stored files, and the
-- runs that people follow. A run is moved by its job and by nothing else.

-- Written by the lens `documents` only. A purged document keeps its row, without anything that came from its source.
CREATE TABLE mnemon.documents (
    tenant_id        uuid NOT NULL,
    doc_id           uuid NOT NULL,
    source_type      text NOT NULL,
    source_uri       text NOT NULL CHECK (octet_length(source_uri) BETWEEN 1 AND 2000),
    title            text NOT NULL,
    tags             text[] NOT NULL DEFAULT '{}',
    document_type    text NOT NULL DEFAULT 'doc'
                     CHECK (document_type IN ('email', 'doc', 'chat', 'transcript', 'note')),
    -- Where a text comes from: a system, its id there, and where it can be opened.
    source_system    text NOT NULL DEFAULT 'upload',
    source_id        text,
    source_url       text,
    sensitivity      text NOT NULL DEFAULT 'normal'
                     CHECK (sensitivity IN ('normal', 'sensitive', 'highly_sensitive')),
    visibility_scope text NOT NULL DEFAULT 'org' CHECK (visibility_scope IN ('me', 'team', 'org', 'custom')),
    owner            text NOT NULL DEFAULT 'mnemon',
    -- Who may read it; NULL: everyone of the tenant.
    readers          text[],
    retention_policy text NOT NULL DEFAULT 'forever'
                     CHECK (retention_policy IN ('forever', '1y', 'until_resolved', 'custom')),
    retain_until     timestamptz,
    created_by       text NOT NULL DEFAULT 'mnemon',
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    purged_at        timestamptz,
    PRIMARY KEY (tenant_id, doc_id),
    CONSTRAINT a_custom_retention_has_a_date CHECK ((retention_policy = 'custom') = (retain_until IS NOT NULL)),
    CONSTRAINT the_owner_reads CHECK (readers IS NULL OR owner = ANY (readers))
);
CREATE UNIQUE INDEX documents_by_source ON mnemon.documents (tenant_id, source_uri);
CREATE INDEX documents_to_expire ON mnemon.documents (tenant_id, retention_policy) WHERE retention_policy <> 'forever';
CREATE INDEX documents_by_age ON mnemon.documents (tenant_id, created_at DESC, doc_id);
CALL mnemon.isolate_by_tenant('mnemon.documents');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.documents TO mnemon_app;

-- One immutable content of a document, as one extractor read it. Who may read the document is copied here, so that a
-- search decides it where it finds.
CREATE TABLE mnemon.document_revisions (
    tenant_id         uuid NOT NULL,
    doc_version_id    uuid NOT NULL,
    doc_id            uuid NOT NULL,
    version_number    integer NOT NULL CHECK (version_number > 0),
    version_label     text NOT NULL DEFAULT '',
    content_hash      text NOT NULL,
    text_hash         text NOT NULL,
    extractor         text NOT NULL,
    media_type        text NOT NULL,
    original_filename text NOT NULL DEFAULT '',
    size_bytes        bigint NOT NULL CHECK (size_bytes >= 0),
    char_count        integer NOT NULL CHECK (char_count >= 0),
    page_count        integer CHECK (page_count > 0),
    -- NULL until the run that makes the chunks has counted them.
    chunk_count       integer CHECK (chunk_count >= 0),
    token_count       bigint CHECK (token_count >= 0),
    is_active         boolean NOT NULL,
    written_at        timestamptz,
    authors           text[] NOT NULL DEFAULT '{}',
    participants      text[] NOT NULL DEFAULT '{}',
    details           jsonb NOT NULL DEFAULT '{}',
    readers           text[],
    created_at        timestamptz NOT NULL DEFAULT now(),
    -- The last time that it became the active one, and ceased to be; `served` tells all of them.
    activated_at      timestamptz NOT NULL DEFAULT now(),
    deactivated_at    timestamptz,
    served            tstzmultirange NOT NULL DEFAULT '{}',
    -- When the revision that came in its place was written.
    replaced_at       timestamptz,
    purged_at         timestamptz,
    PRIMARY KEY (tenant_id, doc_version_id),
    CONSTRAINT an_active_one_is_not_deactivated CHECK (NOT is_active OR deactivated_at IS NULL),
    CONSTRAINT a_purged_one_is_inactive CHECK (purged_at IS NULL OR NOT is_active)
);
CREATE UNIQUE INDEX document_revisions_one_active ON mnemon.document_revisions (tenant_id, doc_id) WHERE is_active;
CREATE UNIQUE INDEX document_revisions_by_number ON mnemon.document_revisions (tenant_id, doc_id, version_number);
CREATE INDEX document_revisions_private ON mnemon.document_revisions (tenant_id, doc_version_id)
    WHERE readers IS NOT NULL;
CREATE INDEX document_revisions_by_content ON mnemon.document_revisions (tenant_id, content_hash);
CALL mnemon.isolate_by_tenant('mnemon.document_revisions');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.document_revisions TO mnemon_app;

-- Derived from the stored file and the extractor; never changed, only removed or made again. No foreign key: a rebuild
-- of the lens exchanges the rows of the revisions.
CREATE TABLE mnemon.revision_texts (
    tenant_id      uuid NOT NULL,
    doc_version_id uuid NOT NULL,
    text           text NOT NULL,
    blocks         jsonb NOT NULL DEFAULT '[]',
    remarks        jsonb NOT NULL DEFAULT '[]',
    pages          bytea,
    structure      bytea NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_id, doc_version_id)
);
-- Compressed already.
ALTER TABLE mnemon.revision_texts ALTER COLUMN pages SET STORAGE EXTERNAL,
    ALTER COLUMN structure SET STORAGE EXTERNAL;
CALL mnemon.isolate_by_tenant('mnemon.revision_texts');
GRANT SELECT, INSERT, DELETE ON mnemon.revision_texts TO mnemon_app;

CREATE TABLE mnemon.ingestion_runs (
    tenant_id      uuid NOT NULL,
    run_id         uuid NOT NULL,
    doc_id         uuid NOT NULL,
    doc_version_id uuid,
    job_id         uuid,
    status         text NOT NULL DEFAULT 'queued',
    run_type       text NOT NULL CHECK (run_type IN ('manual_upload', 's3_sync', 'rebuild')),
    source_id      uuid,
    initiated_by   text NOT NULL,
    config         jsonb NOT NULL,
    stats          jsonb,
    stage          text,
    attempts       integer NOT NULL DEFAULT 0,
    error_code     text,
    error          text,
    created_at     timestamptz NOT NULL DEFAULT now(),
    started_at     timestamptz,
    updated_at     timestamptz NOT NULL DEFAULT now(),
    finished_at    timestamptz,
    PRIMARY KEY (tenant_id, run_id),
    CONSTRAINT a_known_run_status CHECK (status IN ('queued', 'running', 'succeeded', 'failed')),
    CONSTRAINT running_has_a_start CHECK (status NOT IN ('running', 'succeeded') OR started_at IS NOT NULL),
    CONSTRAINT ended_has_a_time CHECK ((status IN ('succeeded', 'failed')) = (finished_at IS NOT NULL)),
    CONSTRAINT only_failed_has_an_error CHECK ((status = 'failed') = (error IS NOT NULL))
);
CREATE INDEX ingestion_runs_by_age ON mnemon.ingestion_runs (tenant_id, created_at DESC, run_id);
CREATE INDEX ingestion_runs_by_status ON mnemon.ingestion_runs (tenant_id, status, created_at DESC);
CREATE INDEX ingestion_runs_by_document ON mnemon.ingestion_runs (tenant_id, doc_id);
CALL mnemon.isolate_by_tenant('mnemon.ingestion_runs');
GRANT SELECT ON mnemon.ingestion_runs TO mnemon_app;
GRANT INSERT (tenant_id, run_id, doc_id, run_type, source_id, initiated_by, config)
   ON mnemon.ingestion_runs TO mnemon_app;
GRANT UPDATE (stage, updated_at) ON mnemon.ingestion_runs TO mnemon_app;
CREATE TRIGGER moves_its_run AFTER INSERT ON mnemon.jobs
    FOR EACH ROW WHEN (NEW.kind = 'documents.ingest') EXECUTE FUNCTION mnemon.move_run_with_job();
CREATE TRIGGER moves_its_run_on AFTER UPDATE OF status ON mnemon.jobs
    FOR EACH ROW WHEN (NEW.kind = 'documents.ingest' AND OLD.status IS DISTINCT FROM NEW.status)
    EXECUTE FUNCTION mnemon.move_run_with_job();

-- Passages of revisions, made to be searched: their words for the lexical search, their vectors for the dense one.
-- All of it is derived from the text of a revision and can be made again.

CREATE TABLE mnemon.chunks (
    tenant_id      uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    chunk_id       uuid NOT NULL,
    doc_version_id uuid NOT NULL,
    doc_id         uuid NOT NULL,
    ordinal        integer NOT NULL CHECK (ordinal >= 0),
    start_offset   integer NOT NULL CHECK (start_offset >= 0),
    end_offset     integer NOT NULL,
    heading_path   text[] NOT NULL,
    first_page     integer,
    last_page      integer,
    speaker        text,
    tokens         integer NOT NULL,
    text           text NOT NULL,
    active         boolean NOT NULL,
    PRIMARY KEY (tenant_id, chunk_id),
    UNIQUE (tenant_id, doc_version_id, ordinal),
    CHECK (end_offset - start_offset = length(text))
);
CALL mnemon.isolate_by_tenant('mnemon.chunks');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.chunks TO mnemon_app;

-- The stemmed words of a chunk with their positions. Apart from the text and never compressed, because ranking reads
-- the words of hundreds of chunks for every question, and looks at the offsets of many more, in the index alone.
CREATE TABLE mnemon.chunk_terms (
    tenant_id      uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    doc_version_id uuid NOT NULL,
    ordinal        integer NOT NULL,
    chunk_id       uuid NOT NULL,
    start_offset   integer NOT NULL,
    end_offset     integer NOT NULL,
    speaker        text,
    active         boolean NOT NULL,
    length         integer NOT NULL,
    terms          tsvector NOT NULL,
    heading_terms  tsvector NOT NULL,
    PRIMARY KEY (tenant_id, doc_version_id, ordinal) INCLUDE (start_offset, end_offset)
) WITH (toast_tuple_target = 8160);
ALTER TABLE mnemon.chunk_terms ALTER COLUMN terms SET STORAGE EXTERNAL;
CALL mnemon.isolate_by_tenant('mnemon.chunk_terms');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.chunk_terms TO mnemon_app;

-- Two indexes, since revisions of the past would crowd out those of today. Without the list of pending entries, which
-- every search after an upload would read from end to end.
CREATE INDEX chunk_terms_today ON mnemon.chunk_terms USING gin (mnemon.term_keys(tenant_id, terms))
    WITH (fastupdate = off) WHERE active;
CREATE INDEX chunk_terms_past ON mnemon.chunk_terms USING gin (mnemon.term_keys(tenant_id, terms))
    WITH (fastupdate = off) WHERE NOT active;

CREATE TABLE mnemon.chunk_vectors (
    tenant_id uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    chunk_id  uuid NOT NULL,
    model_id  text NOT NULL,
    embedding vector NOT NULL,
    PRIMARY KEY (tenant_id, model_id, chunk_id)
);
CALL mnemon.isolate_by_tenant('mnemon.chunk_vectors');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.chunk_vectors TO mnemon_app;

-- The default model's, so that the first search already has it. Other models get theirs when they come into use.
CREATE INDEX chunk_vectors_near_c76aa13391 ON mnemon.chunk_vectors
    USING hnsw ((embedding::halfvec(384)) halfvec_cosine_ops) WHERE model_id = 'all-MiniLM-L6-v2@1';

-- Who speaks in which revision: a search for what somebody said looks up their revisions and reads no other's chunks.
CREATE TABLE mnemon.revision_speakers (
    tenant_id      uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    name_key       bigint NOT NULL,
    doc_version_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, name_key, doc_version_id)
);
CREATE INDEX revision_speakers_by_revision ON mnemon.revision_speakers (tenant_id, doc_version_id);
CALL mnemon.isolate_by_tenant('mnemon.revision_speakers');
GRANT SELECT, INSERT, DELETE ON mnemon.revision_speakers TO mnemon_app;
