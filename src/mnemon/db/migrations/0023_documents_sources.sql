-- Places whose files become documents: folders and buckets, what is known of each file there, and the looks at them.
CREATE TABLE mnemon.document_sources (
    tenant_id     uuid NOT NULL,
    source_id     uuid NOT NULL,
    name          text NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('s3', 'folder')),
    -- The bucket, or the folder.
    place         text NOT NULL,
    prefix        text NOT NULL DEFAULT '',
    include       text[] NOT NULL DEFAULT '{}',
    exclude       text[] NOT NULL DEFAULT '{}',
    tags          text[] NOT NULL DEFAULT '{}',
    endpoint      text,
    region        text,
    -- Who asks the bucket: with keys of the source's own, as the server, or as nobody.
    access        text NOT NULL DEFAULT 'none' CHECK (access IN ('keys', 'server', 'none')),
    -- Sealed with the key of the subject `source:ID`.
    sealed_keys   bytea CHECK ((sealed_keys IS NOT NULL) = (access = 'keys')),
    every_minutes integer CHECK (every_minutes > 0),
    paused        boolean NOT NULL DEFAULT false,
    next_sync_at  timestamptz,
    created_by    text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, source_id),
    UNIQUE (tenant_id, name)
);

-- In the order of the keys' bytes, as object stores list them: a listing and what is known are compared side by side.
CREATE TABLE mnemon.source_objects (
    tenant_id   uuid NOT NULL,
    source_id   uuid NOT NULL,
    object_key  text COLLATE "C" NOT NULL,
    -- ETag and size, or time and size: another mark, another content.
    mark        text NOT NULL,
    size_bytes  bigint NOT NULL,
    modified_at timestamptz,
    doc_id      uuid,
    -- refused: its content cannot be taken in; failed: it is tried again; purged: its key is a digest by now.
    status      text NOT NULL CHECK (status IN ('active', 'deleted', 'failed', 'refused', 'purged')),
    error       text,
    synced_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, source_id, object_key),
    FOREIGN KEY (tenant_id, source_id) REFERENCES mnemon.document_sources ON DELETE CASCADE
);
CREATE INDEX source_objects_by_document ON mnemon.source_objects (tenant_id, doc_id);

CREATE TABLE mnemon.source_syncs (
    tenant_id    uuid NOT NULL,
    sync_id      uuid NOT NULL,
    source_id    uuid NOT NULL,
    job_id       uuid,
    status       text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'succeeded', 'failed')),
    -- The last key that was compared: where the next attempt goes on.
    position     text NOT NULL DEFAULT '',
    counts       jsonb NOT NULL DEFAULT '{}',
    attempts     integer NOT NULL DEFAULT 0,
    error_code   text,
    error        text,
    initiated_by text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    started_at   timestamptz,
    updated_at   timestamptz NOT NULL DEFAULT now(),
    finished_at  timestamptz,
    PRIMARY KEY (tenant_id, sync_id),
    FOREIGN KEY (tenant_id, source_id) REFERENCES mnemon.document_sources ON DELETE CASCADE
);
CREATE INDEX source_syncs_by_source ON mnemon.source_syncs (tenant_id, source_id, created_at DESC);

CALL mnemon.isolate_by_tenant('mnemon.document_sources');
CALL mnemon.isolate_by_tenant('mnemon.source_objects');
CALL mnemon.isolate_by_tenant('mnemon.source_syncs');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.document_sources, mnemon.source_objects TO mnemon_app;
GRANT SELECT ON mnemon.source_syncs TO mnemon_app;
GRANT INSERT (tenant_id, sync_id, source_id, initiated_by) ON mnemon.source_syncs TO mnemon_app;
GRANT UPDATE (position, counts, updated_at) ON mnemon.source_syncs TO mnemon_app;
CREATE TRIGGER moves_its_sync AFTER INSERT ON mnemon.jobs
    FOR EACH ROW WHEN (NEW.kind = 'documents.sync') EXECUTE FUNCTION mnemon.move_sync_with_job();
CREATE TRIGGER moves_its_sync_on AFTER UPDATE OF status ON mnemon.jobs
    FOR EACH ROW WHEN (NEW.kind = 'documents.sync' AND OLD.status IS DISTINCT FROM NEW.status)
    EXECUTE FUNCTION mnemon.move_sync_with_job();
