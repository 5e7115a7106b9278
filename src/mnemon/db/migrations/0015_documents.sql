-- Documents: the lens that the log's events are folded into, the text that is derived from the stored files, and the
-- runs that people follow. A run is moved by its job and by nothing else.

-- Written by the lens `documents` only. A purged document keeps its row, without anything that came from its source.
CREATE TABLE mnemon.documents (
    tenant_id   uuid NOT NULL,
    doc_id      uuid NOT NULL,
    source_type text NOT NULL,
    source_uri  text NOT NULL CHECK (octet_length(source_uri) BETWEEN 1 AND 2000),
    title       text NOT NULL,
    tags        text[] NOT NULL DEFAULT '{}',
    created_by  text NOT NULL DEFAULT 'mnemon',
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    purged_at   timestamptz,
    PRIMARY KEY (tenant_id, doc_id)
);
CREATE UNIQUE INDEX documents_by_source ON mnemon.documents (tenant_id, source_uri);
CREATE INDEX documents_by_age ON mnemon.documents (tenant_id, created_at DESC, doc_id);
CALL mnemon.isolate_by_tenant('mnemon.documents');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.documents TO mnemon_app;

-- A version is a revision: one immutable content of a document, as one extractor read it.
CREATE TABLE mnemon.document_versions (
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
    created_at        timestamptz NOT NULL DEFAULT now(),
    activated_at      timestamptz NOT NULL DEFAULT now(),
    deactivated_at    timestamptz,
    purged_at         timestamptz,
    PRIMARY KEY (tenant_id, doc_version_id),
    CONSTRAINT an_active_one_is_not_deactivated CHECK (NOT is_active OR deactivated_at IS NULL),
    CONSTRAINT a_purged_one_is_inactive CHECK (purged_at IS NULL OR NOT is_active)
);
CREATE UNIQUE INDEX document_versions_one_active ON mnemon.document_versions (tenant_id, doc_id) WHERE is_active;
CREATE UNIQUE INDEX document_versions_by_number ON mnemon.document_versions (tenant_id, doc_id, version_number);
CREATE INDEX document_versions_by_content ON mnemon.document_versions (tenant_id, content_hash);
CALL mnemon.isolate_by_tenant('mnemon.document_versions');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.document_versions TO mnemon_app;

-- Derived from the stored file and the extractor; never changed, only removed or made again. No foreign key: a rebuild
-- of the lens exchanges the rows of the versions.
CREATE TABLE mnemon.revision_texts (
    tenant_id      uuid NOT NULL,
    doc_version_id uuid NOT NULL,
    text           text NOT NULL,
    blocks         jsonb NOT NULL DEFAULT '[]',
    remarks        jsonb NOT NULL DEFAULT '[]',
    pages          bytea,
    PRIMARY KEY (tenant_id, doc_version_id)
);
-- Compressed already.
ALTER TABLE mnemon.revision_texts ALTER COLUMN pages SET STORAGE EXTERNAL;
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
GRANT INSERT (tenant_id, run_id, doc_id, run_type, source_id, initiated_by, config) ON mnemon.ingestion_runs TO mnemon_app;
GRANT UPDATE (stage, updated_at) ON mnemon.ingestion_runs TO mnemon_app;

-- A run is what its job is: claimed, finished, failed, rescued, cancelled or retried by whoever, the run changes in the
-- same transaction. That it failed is a fact for the log, which only a program can write: a job is left to do so.
CREATE FUNCTION mnemon.move_run_with_job() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    UPDATE mnemon.ingestion_runs r
       SET job_id = NEW.job_id,
           status = CASE NEW.status WHEN 'PENDING' THEN 'queued' WHEN 'PROCESSING' THEN 'running'
                                    WHEN 'DONE' THEN 'succeeded' ELSE 'failed' END,
           attempts = NEW.attempts,
           stage = NULL,
           started_at = CASE NEW.status WHEN 'PROCESSING' THEN coalesce(r.started_at, clock_timestamp())
                                        ELSE r.started_at END,
           updated_at = clock_timestamp(),
           finished_at = NEW.finished_at,
           error_code = CASE NEW.status WHEN 'FAILED' THEN NEW.last_error_code END,
           error = CASE NEW.status WHEN 'FAILED' THEN NEW.last_error_message END,
           stats = CASE NEW.status WHEN 'DONE' THEN NEW.result -> 'stats' ELSE r.stats END,
           doc_version_id = CASE NEW.status WHEN 'DONE' THEN (NEW.result ->> 'doc_version_id')::uuid
                                            ELSE r.doc_version_id END
     WHERE r.tenant_id = NEW.tenant_id AND r.run_id = (NEW.payload ->> 'run_id')::uuid
       AND (TG_OP = 'INSERT' OR r.job_id = NEW.job_id);
    IF FOUND AND NEW.status = 'FAILED' THEN
        INSERT INTO mnemon.jobs (tenant_id, job_id, kind, payload, max_attempts)
        VALUES (NEW.tenant_id, mnemon.time_ordered_uuid(), 'documents.record_failure',
                jsonb_build_object('run_id', NEW.payload ->> 'run_id'), 20);
        PERFORM pg_notify('mnemon_jobs', 'documents.record_failure');
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER moves_its_run AFTER INSERT ON mnemon.jobs
    FOR EACH ROW WHEN (NEW.kind = 'documents.ingest') EXECUTE FUNCTION mnemon.move_run_with_job();
CREATE TRIGGER moves_its_run_on AFTER UPDATE OF status ON mnemon.jobs
    FOR EACH ROW WHEN (NEW.kind = 'documents.ingest' AND OLD.status IS DISTINCT FROM NEW.status)
    EXECUTE FUNCTION mnemon.move_run_with_job();

-- Ends runs whose worker has been silent for long while no worker that could take them over is alive. Where one is,
-- it gives them another attempt as soon as the lease has run out.
CREATE FUNCTION mnemon.fail_silent_runs(silence interval, most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    silent record;
    ended  integer := 0;
BEGIN
    IF EXISTS (SELECT FROM mnemon.workers w WHERE 'documents.ingest' = ANY (w.kinds) AND w.stopped_at IS NULL
                  AND w.heartbeat_at > now() - interval '1 minute') THEN
        RETURN 0;
    END IF;
    FOR silent IN
        SELECT j.tenant_id, j.job_id, j.lease_token, j.locked_by FROM mnemon.jobs j
         WHERE j.kind = 'documents.ingest' AND j.status = 'PROCESSING'
           AND j.lease_until < now() AND j.updated_at < now() - silence
           FOR UPDATE SKIP LOCKED LIMIT most
    LOOP
        PERFORM mnemon.fail_job(silent.tenant_id, silent.job_id, silent.lease_token, 'WORKER_LOST', format(
            'The worker %s gave no heartbeat for %s and no other took over: start one, then retry the run.',
            silent.locked_by, silence), true);
        ended := ended + 1;
    END LOOP;
    RETURN ended;
END $$;

-- Forgets what a document's runs and jobs say about it, ends those that are under way, and destroys the key that the
-- log's events about it are sealed with. The event that says so is appended before, in the same transaction: appends
-- lock the head of the partition first, then keys. FOR UPDATE waits for those that hold the key.
CREATE FUNCTION mnemon.forget_document(document uuid) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    tenant  uuid := mnemon.current_tenant();
    subject text := 'document:' || document;
    run     record;
BEGIN
    PERFORM FROM mnemon.subject_keys k
      WHERE k.tenant_id = tenant AND k.subject_id = subject AND k.destroyed_at IS NULL FOR UPDATE;
    UPDATE mnemon.subject_keys k SET key_id = NULL, wrapped_key = NULL, destroyed_at = clock_timestamp()
     WHERE k.tenant_id = tenant AND k.subject_id = subject AND k.destroyed_at IS NULL;
    FOR run IN SELECT r.run_id, r.job_id FROM mnemon.ingestion_runs r
                WHERE r.tenant_id = tenant AND r.doc_id = document
    LOOP
        UPDATE mnemon.jobs j
           SET status = 'FAILED', next_run_at = NULL, lease_token = NULL, lease_until = NULL,
               last_error_code = 'DOCUMENT_PURGED', last_error_message = 'The document was purged.',
               finished_at = clock_timestamp(), updated_at = clock_timestamp()
         WHERE j.tenant_id = tenant AND j.job_id = run.job_id AND j.status IN ('PENDING', 'PROCESSING');
        IF FOUND THEN
            PERFORM pg_notify('mnemon_jobs_cancelled', run.job_id::text);
        END IF;
        UPDATE mnemon.jobs j
           SET last_error_message = CASE WHEN j.last_error_message IS NULL OR j.last_error_code = 'DOCUMENT_PURGED'
                                         THEN j.last_error_message ELSE '[REDACTED]' END,
               errors = (SELECT coalesce(jsonb_agg(one.value || '{"message": "[REDACTED]"}'), '[]')
                           FROM jsonb_array_elements(j.errors) AS one)
         WHERE j.tenant_id = tenant AND j.job_id = run.job_id;
        UPDATE mnemon.ingestion_runs r
           SET config = r.config - '{title,original_filename,content_hash,source_uri,tags}'::text[],
               error = CASE WHEN r.error IS NULL OR r.error_code = 'DOCUMENT_PURGED' THEN r.error ELSE '[REDACTED]' END
         WHERE r.tenant_id = tenant AND r.run_id = run.run_id;
    END LOOP;
    PERFORM pg_notify('mnemon_privacy', json_build_object('tenant', tenant, 'subject', subject)::text);
END $$;

-- The planner keeps samples of what stands in a table; after a purge they are drawn anew.
CREATE FUNCTION mnemon.renew_document_statistics() RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    relation text;
BEGIN
    FOREACH relation IN ARRAY ARRAY['documents', 'document_versions', 'revision_texts', 'ingestion_runs', 'jobs',
                                    'chunks', 'chunk_terms', 'artifacts', 'artifact_revisions', 'extractions',
                                    'semantic_events', 'event_evidence', 'event_links'] LOOP
        IF to_regclass('mnemon.' || relation) IS NOT NULL THEN
            EXECUTE format('ANALYZE mnemon.%I', relation);
        END IF;
    END LOOP;
END $$;

DO $$
DECLARE
    callable regprocedure;
BEGIN
    FOREACH callable IN ARRAY ARRAY[
        'mnemon.fail_silent_runs(interval, integer)',
        'mnemon.forget_document(uuid)',
        'mnemon.renew_document_statistics()']::regprocedure[]
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', callable);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO mnemon_app', callable);
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.move_run_with_job() FROM PUBLIC;
