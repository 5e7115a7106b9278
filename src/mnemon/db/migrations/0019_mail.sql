-- Mail. The lens `mail` writes archives, messages, copies and threads from the log; imports and sources are work state.

CREATE TABLE mnemon.mail_archives (
    tenant_id       uuid NOT NULL,
    archive_id      text NOT NULL CHECK (archive_id ~ '^[0-9a-f]{16}$'),
    file_hash       text NOT NULL,
    file_size_bytes bigint NOT NULL CHECK (file_size_bytes >= 0),
    source          text NOT NULL,
    source_type     text NOT NULL,
    source_url      text NOT NULL,
    format          text NOT NULL,
    -- Where its kept bytes begin in the file, which may go on where an earlier archive of the source ended.
    start_offset    bigint NOT NULL DEFAULT 0,
    continues       text,
    status          text NOT NULL CHECK (status IN ('pending', 'processed', 'failed')),
    message_count   integer NOT NULL DEFAULT 0,
    defect_count    integer NOT NULL DEFAULT 0,
    ingestion_date  timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, archive_id)
);
CREATE INDEX mail_archives_by_source ON mnemon.mail_archives (tenant_id, source, ingestion_date DESC);

-- A message once, however many archives hold a copy of it. A purged one keeps its key, so that it does not come again.
CREATE TABLE mnemon.mail_messages (
    tenant_id      uuid NOT NULL,
    message_key    text NOT NULL CHECK (message_key ~ '^[0-9a-f]{16}$'),
    doc_id         uuid NOT NULL,
    doc_version_id uuid,
    message_id     text,
    in_reply_to    text,
    refs           text[] NOT NULL DEFAULT '{}',
    list_name      text NOT NULL DEFAULT '',
    subject        text NOT NULL DEFAULT '',
    subject_key    text NOT NULL DEFAULT '',
    sender_name    text NOT NULL DEFAULT '',
    sender_email   text NOT NULL DEFAULT '',
    -- What spellings of the sender's full name share; empty where a name tells no person.
    sender_key     text NOT NULL DEFAULT '',
    recipients     jsonb NOT NULL DEFAULT '{}',
    date           timestamptz,
    date_source    text NOT NULL DEFAULT 'none',
    spans          text NOT NULL DEFAULT '',
    draft_mentions text[] NOT NULL DEFAULT '{}',
    attachments    jsonb NOT NULL DEFAULT '[]',
    headers        jsonb NOT NULL DEFAULT '{}',
    defects        text[] NOT NULL DEFAULT '{}',
    thread_key     text,
    parent_id      text,
    result_of      text,
    -- Which copy its text is of: the first by this, whatever order they came in.
    choice         text NOT NULL DEFAULT '',
    purged_at      timestamptz,
    created_at     timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, message_key)
);
CREATE UNIQUE INDEX mail_messages_by_document ON mnemon.mail_messages (tenant_id, doc_id);
CREATE INDEX mail_messages_by_id ON mnemon.mail_messages (tenant_id, message_id);
CREATE INDEX mail_messages_by_thread ON mnemon.mail_messages (tenant_id, thread_key, date);
CREATE INDEX mail_messages_by_date ON mnemon.mail_messages (tenant_id, date DESC, message_key);
CREATE INDEX mail_messages_by_list ON mnemon.mail_messages (tenant_id, list_name, date DESC);
CREATE INDEX mail_messages_by_sender ON mnemon.mail_messages (tenant_id, sender_email, date DESC);
CREATE INDEX mail_messages_by_subject ON mnemon.mail_messages (tenant_id, subject_key);
CREATE INDEX mail_messages_by_draft ON mnemon.mail_messages USING gin (draft_mentions);

-- Where a message stands in an archive.
CREATE TABLE mnemon.mail_copies (
    tenant_id   uuid NOT NULL,
    archive_id  text NOT NULL,
    byte_offset bigint NOT NULL CHECK (byte_offset >= 0),
    byte_length bigint NOT NULL CHECK (byte_length >= 0),
    digest      text NOT NULL,
    message_key text NOT NULL,
    copy_key    text NOT NULL,
    PRIMARY KEY (tenant_id, archive_id, byte_offset)
);
CREATE INDEX mail_copies_by_message ON mnemon.mail_copies (tenant_id, message_key);
CREATE INDEX mail_copies_by_key ON mnemon.mail_copies (tenant_id, copy_key);

CREATE TABLE mnemon.mail_defects (
    tenant_id  uuid NOT NULL,
    archive_id text NOT NULL,
    byte_offset bigint NOT NULL,
    byte_length bigint NOT NULL,
    reason      text NOT NULL,
    PRIMARY KEY (tenant_id, archive_id, byte_offset)
);

-- Every id that a message has or refers to, and the thread that it belongs to: ghosts too.
CREATE TABLE mnemon.mail_thread_ids (
    tenant_id  uuid NOT NULL,
    id_key     text NOT NULL,
    thread_key text NOT NULL,
    PRIMARY KEY (tenant_id, id_key)
);
CREATE INDEX mail_thread_ids_by_thread ON mnemon.mail_thread_ids (tenant_id, thread_key);

CREATE TABLE mnemon.mail_threads (
    tenant_id          uuid NOT NULL,
    thread_key         text NOT NULL,
    thread_id          text NOT NULL,
    list_name          text NOT NULL,
    subject            text NOT NULL,
    participants       jsonb NOT NULL,
    participant_keys   text[] NOT NULL,
    message_count      integer NOT NULL CHECK (message_count > 0),
    ghost_count        integer NOT NULL,
    first_message_date timestamptz,
    last_message_date  timestamptz,
    draft_mentions     text[] NOT NULL,
    PRIMARY KEY (tenant_id, thread_key)
);
CREATE INDEX mail_threads_by_date ON mnemon.mail_threads (tenant_id, last_message_date DESC, thread_key);
CREATE INDEX mail_threads_by_list ON mnemon.mail_threads (tenant_id, list_name, last_message_date DESC);
CREATE INDEX mail_threads_by_draft ON mnemon.mail_threads USING gin (draft_mentions);
CREATE INDEX mail_threads_by_person ON mnemon.mail_threads USING gin (participant_keys);

CREATE TABLE mnemon.mail_sources (
    tenant_id       uuid NOT NULL,
    source_id       uuid NOT NULL,
    name            text NOT NULL,
    source_type     text NOT NULL CHECK (source_type IN ('file', 'folder', 'http', 'rsync', 'imap')),
    location        text NOT NULL,
    -- Minutes between two looks; NULL: only when asked.
    every_minutes   integer CHECK (every_minutes > 0),
    paused          boolean NOT NULL DEFAULT false,
    -- How far it was read: what the next look compares with.
    cursor          jsonb NOT NULL DEFAULT '{}',
    status          text NOT NULL DEFAULT 'new' CHECK (status IN ('new', 'fetching', 'ok', 'failing')),
    failures        integer NOT NULL DEFAULT 0,
    last_error      text,
    last_checked_at timestamptz,
    next_check_at   timestamptz,
    created_by      text NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, source_id),
    UNIQUE (tenant_id, name)
);
CREATE INDEX mail_sources_due ON mnemon.mail_sources (next_check_at) WHERE next_check_at IS NOT NULL AND NOT paused;

-- One import of one archive, moved by its job like a run.
CREATE TABLE mnemon.mail_imports (
    tenant_id    uuid NOT NULL,
    import_id    uuid NOT NULL,
    job_id       uuid,
    source       text NOT NULL,
    source_type  text NOT NULL,
    source_url   text NOT NULL,
    source_id    uuid,
    -- The archive once its bytes are kept, and where in it the next message is looked for.
    archive_id   text,
    ingested_as  text,
    position     bigint NOT NULL DEFAULT 0,
    total        bigint NOT NULL DEFAULT 0,
    counts       jsonb NOT NULL DEFAULT '{}',
    status       text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'succeeded', 'failed')),
    stage        text,
    attempts     integer NOT NULL DEFAULT 0,
    error_code   text,
    error        text,
    initiated_by text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    started_at   timestamptz,
    updated_at   timestamptz NOT NULL DEFAULT now(),
    finished_at  timestamptz,
    PRIMARY KEY (tenant_id, import_id)
);
CREATE INDEX mail_imports_by_age ON mnemon.mail_imports (tenant_id, created_at DESC, import_id);

CALL mnemon.isolate_by_tenant('mnemon.mail_archives');
CALL mnemon.isolate_by_tenant('mnemon.mail_messages');
CALL mnemon.isolate_by_tenant('mnemon.mail_copies');
CALL mnemon.isolate_by_tenant('mnemon.mail_defects');
CALL mnemon.isolate_by_tenant('mnemon.mail_thread_ids');
CALL mnemon.isolate_by_tenant('mnemon.mail_threads');
CALL mnemon.isolate_by_tenant('mnemon.mail_sources');
CALL mnemon.isolate_by_tenant('mnemon.mail_imports');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.mail_archives, mnemon.mail_messages, mnemon.mail_copies,
    mnemon.mail_defects, mnemon.mail_thread_ids, mnemon.mail_threads,
    mnemon.mail_sources TO mnemon_app;
GRANT SELECT ON mnemon.mail_imports TO mnemon_app;
GRANT INSERT (tenant_id, import_id, source, source_type, source_url, source_id, initiated_by)
    ON mnemon.mail_imports TO mnemon_app;
GRANT UPDATE (archive_id, ingested_as, position, total, counts, stage, updated_at)
    ON mnemon.mail_imports TO mnemon_app;
CREATE TRIGGER moves_its_import AFTER INSERT ON mnemon.jobs
    FOR EACH ROW WHEN (NEW.kind = 'mail.import') EXECUTE FUNCTION mnemon.move_import_with_job();
CREATE TRIGGER moves_its_import_on AFTER UPDATE OF status ON mnemon.jobs
    FOR EACH ROW WHEN (NEW.kind = 'mail.import' AND OLD.status IS DISTINCT FROM NEW.status)
    EXECUTE FUNCTION mnemon.move_import_with_job();
