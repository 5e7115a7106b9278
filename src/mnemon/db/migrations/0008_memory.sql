-- Memory objects: the lens tables (current, history, links, branches, texts, graph), and the vectors of their texts.
--
-- `since` and `until` are log sequences: a row holds from one to just before the other. 9223372036854775807 is "still".
-- Reads as of a sequence, and branches that look into their parent as of their fork, are the same condition.

CREATE TABLE mnemon.emo_branches (
    tenant_id      uuid NOT NULL,
    world_id       uuid NOT NULL,
    branch         text COLLATE "C" NOT NULL CHECK (branch ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' AND branch <> 'main'),
    parent         text COLLATE "C" NOT NULL,
    fork_sequence  bigint NOT NULL,
    status         text NOT NULL CHECK (status IN ('open', 'merged', 'abandoned')),
    purpose        text NOT NULL,
    needs_person   boolean NOT NULL,
    created_by     text NOT NULL,
    created_at     timestamptz NOT NULL,
    closed_by      text,
    closed_at      timestamptz,
    PRIMARY KEY (tenant_id, world_id, branch),
    CHECK ((status = 'open') = (closed_at IS NULL))
);

CREATE TABLE mnemon.emo_current (
    tenant_id        uuid NOT NULL,
    world_id         uuid NOT NULL,
    branch           text COLLATE "C" NOT NULL,
    emo_id           uuid NOT NULL,
    emo_type         text NOT NULL CHECK (emo_type IN ('note', 'fact', 'doc', 'artifact', 'profile')),
    emo_version      integer NOT NULL CHECK (emo_version >= 1),
    -- The version that the branch took over from its parent; 0 for an object that began here.
    base_version     integer NOT NULL CHECK (base_version BETWEEN 0 AND emo_version - 1),
    mime_type        text NOT NULL,
    content          text NOT NULL,
    tags             text[] NOT NULL,
    facets           jsonb NOT NULL,
    parents          jsonb NOT NULL,
    links            jsonb NOT NULL,
    subject_id       text,
    source_kind      text NOT NULL CHECK (source_kind IN ('user', 'agent', 'ingest')),
    source_uri       text,
    vector_meta      jsonb,
    content_hash     text NOT NULL,
    determinism_hash text NOT NULL,
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    updated_by       text NOT NULL,
    deleted          boolean NOT NULL,
    deleted_at       timestamptz,
    deletion_reason  text,
    sequence         bigint NOT NULL,
    PRIMARY KEY (tenant_id, world_id, branch, emo_id),
    CHECK (deleted = (deleted_at IS NOT NULL))
);

CREATE TABLE mnemon.emo_history (
    tenant_id        uuid NOT NULL,
    world_id         uuid NOT NULL,
    branch           text COLLATE "C" NOT NULL,
    emo_id           uuid NOT NULL,
    emo_version      integer NOT NULL CHECK (emo_version >= 1),
    since            bigint NOT NULL,
    until            bigint NOT NULL,
    change_id        uuid NOT NULL,
    operation_type   text NOT NULL CHECK (operation_type IN ('created', 'updated', 'linked', 'deleted', 'restored',
                                                             'facet.added', 'facet.replaced', 'facet.removed')),
    idempotency_key  text NOT NULL,
    diff             jsonb NOT NULL,
    rationale        text,
    emo_type         text NOT NULL,
    base_version     integer NOT NULL,
    mime_type        text NOT NULL,
    -- NULL once the version is compacted away; the log still has it.
    content          text,
    tags             text[] NOT NULL,
    facets           jsonb NOT NULL,
    parents          jsonb NOT NULL,
    links            jsonb NOT NULL,
    subject_id       text,
    source_kind      text NOT NULL,
    source_uri       text,
    vector_meta      jsonb,
    content_hash     text NOT NULL,
    determinism_hash text NOT NULL,
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    updated_by       text NOT NULL,
    deleted          boolean NOT NULL,
    deleted_at       timestamptz,
    deletion_reason  text,
    compacted_by     uuid,
    words            tsvector GENERATED ALWAYS AS (to_tsvector('english', left(content, 200000))) STORED,
    PRIMARY KEY (tenant_id, world_id, branch, emo_id, emo_version),
    FOREIGN KEY (tenant_id, world_id, branch, emo_id) REFERENCES mnemon.emo_current ON DELETE CASCADE,
    CHECK (since < until),
    CHECK ((content IS NULL) = (compacted_by IS NOT NULL))
);
CREATE UNIQUE INDEX emo_history_by_change ON mnemon.emo_history (tenant_id, world_id, branch, change_id);
CREATE UNIQUE INDEX emo_history_by_key ON mnemon.emo_history (tenant_id, world_id, branch, idempotency_key);
CREATE INDEX emo_history_by_update ON mnemon.emo_history (tenant_id, world_id, branch, updated_at, emo_id);
CREATE INDEX emo_history_by_since ON mnemon.emo_history (tenant_id, world_id, branch, since);
CREATE INDEX emo_history_compacted ON mnemon.emo_history (tenant_id, world_id, branch, until)
    WHERE compacted_by IS NOT NULL;
CREATE INDEX emo_history_by_subject ON mnemon.emo_history (tenant_id, subject_id) WHERE subject_id IS NOT NULL;
CREATE INDEX emo_history_by_tag ON mnemon.emo_history USING gin (tags) WHERE NOT deleted;
-- By keys, as passages are found. The list of pending entries is short, since every search reads it from end to end.
CREATE INDEX emo_history_by_word ON mnemon.emo_history USING gin (mnemon.term_keys(tenant_id, words))
    WITH (gin_pending_list_limit = 256) WHERE NOT deleted;

CREATE TABLE mnemon.emo_links (
    tenant_id     uuid NOT NULL,
    world_id      uuid NOT NULL,
    branch        text COLLATE "C" NOT NULL,
    emo_id        uuid NOT NULL,
    link_id       uuid NOT NULL,
    rel           text NOT NULL CHECK (rel IN ('derived', 'supersedes', 'merges', 'links')),
    target_emo_id uuid,
    target_uri    text,
    created_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, world_id, branch, emo_id, link_id),
    FOREIGN KEY (tenant_id, world_id, branch, emo_id) REFERENCES mnemon.emo_current ON DELETE CASCADE,
    CHECK ((target_emo_id IS NULL) <> (target_uri IS NULL))
);
CREATE INDEX emo_links_by_target ON mnemon.emo_links (tenant_id, target_emo_id) WHERE target_emo_id IS NOT NULL;

-- What can be searched by meaning: a piece of text is named by its digest, and its vector is found under that.
CREATE TABLE mnemon.emo_texts (
    tenant_id   uuid NOT NULL,
    world_id    uuid NOT NULL,
    branch      text COLLATE "C" NOT NULL,
    emo_id      uuid NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('content', 'facet', 'rationale')),
    name        text COLLATE "C" NOT NULL,
    since       bigint NOT NULL,
    until       bigint NOT NULL,
    emo_version integer NOT NULL,
    text_hash   bytea NOT NULL,
    PRIMARY KEY (tenant_id, world_id, branch, emo_id, kind, name, since)
);
CREATE INDEX emo_texts_by_hash ON mnemon.emo_texts (tenant_id, text_hash);

CREATE TABLE mnemon.emo_graph_nodes (
    tenant_id   uuid NOT NULL,
    world_id    uuid NOT NULL,
    branch      text COLLATE "C" NOT NULL,
    emo_id      uuid NOT NULL,
    since       bigint NOT NULL,
    until       bigint NOT NULL,
    graph       text NOT NULL,
    emo_type    text NOT NULL,
    emo_version integer NOT NULL,
    deleted     boolean NOT NULL,
    tags        text[] NOT NULL,
    PRIMARY KEY (tenant_id, world_id, branch, emo_id, since)
);

-- An edge belongs to the object whose change made it, which need not be where it starts.
CREATE TABLE mnemon.emo_graph_edges (
    tenant_id  uuid NOT NULL,
    world_id   uuid NOT NULL,
    branch     text COLLATE "C" NOT NULL,
    edge_id    uuid NOT NULL,
    since      bigint NOT NULL,
    until      bigint NOT NULL,
    graph      text NOT NULL,
    owner_id   uuid NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('SUPERSEDED_BY', 'DERIVES_FROM', 'LINKS_TO', 'HAS_FACET', 'EXPLAINED_BY')),
    source_id  uuid NOT NULL,
    target_id  uuid,
    target     text,
    properties jsonb NOT NULL,
    PRIMARY KEY (tenant_id, world_id, branch, edge_id, since),
    CHECK ((target_id IS NULL) <> (target IS NULL))
);
CREATE INDEX emo_graph_edges_by_owner ON mnemon.emo_graph_edges (tenant_id, owner_id);
CREATE INDEX emo_graph_edges_by_source ON mnemon.emo_graph_edges (tenant_id, source_id);
CREATE INDEX emo_graph_edges_by_target ON mnemon.emo_graph_edges (tenant_id, target_id) WHERE target_id IS NOT NULL;

-- Vectors by text, whichever objects, versions and branches hold that text. Not a lens: what a model gave is kept, and
-- a replay finds it here instead of asking the model again.
CREATE TABLE mnemon.memory_vectors (
    tenant_id uuid NOT NULL,
    text_hash bytea NOT NULL,
    model_id  text NOT NULL,
    embedding vector NOT NULL,
    PRIMARY KEY (tenant_id, text_hash, model_id)
);
-- Texts that have no vector yet.
CREATE TABLE mnemon.memory_pending_texts (
    tenant_id uuid NOT NULL,
    text_hash bytea NOT NULL,
    queued_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, text_hash)
);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['emo_branches', 'emo_current', 'emo_history', 'emo_links', 'emo_texts',
                                'emo_graph_nodes', 'emo_graph_edges', 'memory_vectors', 'memory_pending_texts'] LOOP
        EXECUTE format('CALL mnemon.isolate_by_tenant(%L)', 'mnemon.' || name);
    END LOOP;
END $$;
-- Lens tables are read by everyone and written by the projector's functions alone.
GRANT SELECT ON mnemon.emo_branches, mnemon.emo_current, mnemon.emo_history, mnemon.emo_links, mnemon.emo_texts,
    mnemon.emo_graph_nodes, mnemon.emo_graph_edges TO mnemon_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.memory_vectors, mnemon.memory_pending_texts TO mnemon_app;
CREATE TRIGGER count_new_words AFTER INSERT ON mnemon.emo_history REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION mnemon.count_memory_words();
CREATE TRIGGER count_gone_words AFTER DELETE ON mnemon.emo_history REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION mnemon.count_memory_words();
CREATE TRIGGER count_lost_words AFTER UPDATE ON mnemon.emo_history REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION mnemon.count_memory_words();
CREATE TRIGGER queue_new_texts AFTER INSERT ON mnemon.emo_texts REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION mnemon.queue_new_texts();
