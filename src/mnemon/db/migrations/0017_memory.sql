-- Memory objects: the lens tables (current, history, links, branches, texts, graph), and the only ways to write them.
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
CREATE INDEX emo_history_by_word ON mnemon.emo_history USING gin (words) WHERE NOT deleted;

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
-- Lens tables are read by everyone and written by the projector's functions below alone.
GRANT SELECT ON mnemon.emo_branches, mnemon.emo_current, mnemon.emo_history, mnemon.emo_links, mnemon.emo_texts,
    mnemon.emo_graph_nodes, mnemon.emo_graph_edges TO mnemon_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.memory_vectors, mnemon.memory_pending_texts TO mnemon_app;

CREATE VIEW mnemon.emo_active WITH (security_invoker = true) AS
SELECT c.tenant_id, c.world_id, c.branch, c.emo_id, c.emo_type, c.emo_version, c.mime_type, c.content, c.tags, c.facets,
       c.updated_at, c.source_kind, c.source_uri, c.content_hash,
       coalesce((SELECT jsonb_agg(jsonb_build_object('rel', l.rel, 'target_emo_id', l.target_emo_id,
                                                     'target_uri', l.target_uri) ORDER BY l.link_id)
                   FROM mnemon.emo_links l
                  WHERE l.tenant_id = c.tenant_id AND l.world_id = c.world_id AND l.branch = c.branch
                    AND l.emo_id = c.emo_id), '[]') AS links
  FROM mnemon.emo_current c WHERE NOT c.deleted;

CREATE VIEW mnemon.emo_embeddings WITH (security_invoker = true) AS
SELECT t.tenant_id, t.world_id, t.branch, t.emo_id, t.emo_version, t.kind, t.name, v.model_id,
       vector_dims(v.embedding) AS embed_dim, v.embedding AS embedding_vector
  FROM mnemon.emo_texts t JOIN mnemon.memory_vectors v ON v.tenant_id = t.tenant_id AND v.text_hash = t.text_hash
 WHERE t.until = 9223372036854775807;
GRANT SELECT ON mnemon.emo_active, mnemon.emo_embeddings TO mnemon_app;

-- A text that comes into the lens and has no vector waits for one; after a rebuild none does.
CREATE FUNCTION mnemon.queue_new_texts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO mnemon.memory_pending_texts (tenant_id, text_hash)
    SELECT DISTINCT n.tenant_id, n.text_hash FROM added n
     WHERE NOT EXISTS (SELECT FROM mnemon.memory_vectors v
                        WHERE v.tenant_id = n.tenant_id AND v.text_hash = n.text_hash)
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER queue_new_texts AFTER INSERT ON mnemon.emo_texts REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION mnemon.queue_new_texts();

-- The columns of a table that can be written, as a list.
CREATE FUNCTION mnemon.written_columns(relation regclass) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
     WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
$$;

-- Writes what the projector worked out, into the lens (`mnemon`) or into a rebuild's copies (`pg_temp`).
-- `rows`: per table the new rows; "closed" and "reopened" say which rows of an object no longer hold, or hold again.
CREATE FUNCTION mnemon.write_memory(place text, rows jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    tenant uuid := mnemon.current_tenant();
    still  bigint := 9223372036854775807;
    name   text;
BEGIN
    IF tenant IS NULL OR place NOT IN ('mnemon', 'pg_temp') THEN
        RAISE EXCEPTION 'no tenant is set, or % is no place for a lens', place USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF rows ? 'closed' THEN
        EXECUTE format('UPDATE %I.emo_history t SET until = c.until FROM jsonb_to_recordset($1)
            AS c (world_id uuid, branch text, emo_id uuid, until bigint)
            WHERE t.tenant_id = $2 AND t.world_id = c.world_id AND t.branch = c.branch AND t.emo_id = c.emo_id
              AND t.until = $3', place) USING rows->'closed', tenant, still;
        EXECUTE format('UPDATE %I.emo_graph_nodes t SET until = c.until FROM jsonb_to_recordset($1)
            AS c (world_id uuid, branch text, emo_id uuid, until bigint)
            WHERE t.tenant_id = $2 AND t.world_id = c.world_id AND t.branch = c.branch AND t.emo_id = c.emo_id
              AND t.until = $3', place) USING rows->'closed', tenant, still;
    END IF;
    IF rows ? 'closed_texts' THEN
        EXECUTE format('UPDATE %I.emo_texts t SET until = c.until FROM jsonb_to_recordset($1)
            AS c (world_id uuid, branch text, emo_id uuid, kind text, name text, until bigint)
            WHERE t.tenant_id = $2 AND t.world_id = c.world_id AND t.branch = c.branch AND t.emo_id = c.emo_id
              AND t.kind = c.kind AND (c.name IS NULL OR t.name = c.name) AND t.until = $3', place)
            USING rows->'closed_texts', tenant, still;
    END IF;
    IF rows ? 'closed_edges' THEN
        EXECUTE format('UPDATE %I.emo_graph_edges t SET until = c.until FROM jsonb_to_recordset($1)
            AS c (world_id uuid, branch text, emo_id uuid, edge_id uuid, kind text, until bigint)
            WHERE t.tenant_id = $2 AND t.world_id = c.world_id AND t.branch = c.branch AND t.owner_id = c.emo_id
              AND (c.edge_id IS NULL OR t.edge_id = c.edge_id) AND (c.kind IS NULL OR t.kind = c.kind)
              AND t.until = $3', place) USING rows->'closed_edges', tenant, still;
    END IF;
    -- What explains an object comes back with it.
    IF rows ? 'reopened' THEN
        EXECUTE format('INSERT INTO %1$I.emo_texts SELECT t.tenant_id, t.world_id, t.branch, t.emo_id, t.kind, t.name,
            c.since, $3, t.emo_version, t.text_hash FROM %1$I.emo_texts t JOIN jsonb_to_recordset($1)
            AS c (world_id uuid, branch text, emo_id uuid, closed_at bigint, since bigint)
            ON t.tenant_id = $2 AND t.world_id = c.world_id AND t.branch = c.branch AND t.emo_id = c.emo_id
            WHERE t.kind = ''rationale'' AND t.until = c.closed_at', place) USING rows->'reopened', tenant, still;
        EXECUTE format('INSERT INTO %1$I.emo_graph_edges SELECT t.tenant_id, t.world_id, t.branch, t.edge_id, c.since, $3,
            t.graph, t.owner_id, t.kind, t.source_id, t.target_id, t.target, t.properties
            FROM %1$I.emo_graph_edges t JOIN jsonb_to_recordset($1)
            AS c (world_id uuid, branch text, emo_id uuid, closed_at bigint, since bigint)
            ON t.tenant_id = $2 AND t.world_id = c.world_id AND t.branch = c.branch AND t.owner_id = c.emo_id
            WHERE t.kind = ''EXPLAINED_BY'' AND t.until = c.closed_at', place) USING rows->'reopened', tenant, still;
    END IF;
    IF rows ? 'unlinked' THEN
        EXECUTE format('DELETE FROM %I.emo_links t USING jsonb_to_recordset($1)
            AS c (world_id uuid, branch text, emo_id uuid, link_id uuid)
            WHERE t.tenant_id = $2 AND t.world_id = c.world_id AND t.branch = c.branch AND t.emo_id = c.emo_id
              AND t.link_id = c.link_id', place) USING rows->'unlinked', tenant;
    END IF;
    -- A newer row of the same key takes the place of the older: objects and branches have one row each.
    IF rows ? 'emo_branches' THEN
        EXECUTE format('DELETE FROM %I.emo_branches t USING jsonb_to_recordset($1) AS c (world_id uuid, branch text)
            WHERE t.tenant_id = $2 AND t.world_id = c.world_id AND t.branch = c.branch', place)
            USING rows->'emo_branches', tenant;
    END IF;
    IF rows ? 'emo_current' THEN
        EXECUTE format('INSERT INTO %1$I.emo_current SELECT r.* FROM jsonb_populate_recordset(
                jsonb_populate_record(NULL::mnemon.emo_current, jsonb_build_object(''tenant_id'', $2)), $1) r
             WHERE r.tenant_id = $2
            ON CONFLICT (tenant_id, world_id, branch, emo_id) DO UPDATE SET
                emo_version = excluded.emo_version, mime_type = excluded.mime_type, content = excluded.content,
                tags = excluded.tags, facets = excluded.facets, parents = excluded.parents, links = excluded.links,
                vector_meta = excluded.vector_meta, content_hash = excluded.content_hash,
                determinism_hash = excluded.determinism_hash, updated_at = excluded.updated_at,
                updated_by = excluded.updated_by, deleted = excluded.deleted, deleted_at = excluded.deleted_at,
                deletion_reason = excluded.deletion_reason, sequence = excluded.sequence', place)
            USING rows->'emo_current', tenant;
    END IF;
    FOREACH name IN ARRAY ARRAY['emo_branches', 'emo_history', 'emo_links', 'emo_texts',
                                'emo_graph_nodes', 'emo_graph_edges'] LOOP
        IF rows ? name THEN
            EXECUTE format('INSERT INTO %1$I.%2$I (%3$s) SELECT %3$s FROM jsonb_populate_recordset(jsonb_populate_record(
                NULL::mnemon.%2$I, jsonb_build_object(''tenant_id'', $2)), $1) r WHERE r.tenant_id = $2', place, name,
                mnemon.written_columns(('mnemon.' || name)::regclass)) USING rows->name, tenant;
        END IF;
    END LOOP;
    IF rows ? 'compacted' THEN
        EXECUTE format('UPDATE %I.emo_history t SET content = NULL, compacted_by = c.change_id
             FROM jsonb_to_recordset($1)
               AS c (world_id uuid, branch text, emo_id uuid, emo_version integer, change_id uuid)
            WHERE t.tenant_id = $2 AND t.world_id = c.world_id AND t.branch = c.branch AND t.emo_id = c.emo_id
              AND t.emo_version = c.emo_version AND t.until < $3 AND t.content IS NOT NULL', place)
            USING rows->'compacted', tenant, still;
    END IF;
END $$;

-- The projector's way into the lens.
CREATE FUNCTION mnemon.project_memory(rows jsonb) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT mnemon.write_memory('mnemon', rows)
$$;

-- The rebuild's way: the tenant's rows make place for those of the session's private copies.
CREATE FUNCTION mnemon.exchange_memory() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    tenant uuid := mnemon.current_tenant();
    tables text[] := ARRAY['emo_branches', 'emo_current', 'emo_history', 'emo_links', 'emo_texts',
                           'emo_graph_nodes', 'emo_graph_edges'];
    name   text;
BEGIN
    FOREACH name IN ARRAY tables LOOP
        -- A plain table runs no one's code when it is read.
        IF NOT EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('pg_temp.' || name) AND relkind = 'r'
                          AND relpersistence = 't' AND NOT relrowsecurity) THEN
            RAISE EXCEPTION 'there is no copy of % to exchange', name USING ERRCODE = 'undefined_table';
        END IF;
        EXECUTE format('DELETE FROM mnemon.%I WHERE tenant_id = $1', name) USING tenant;
    END LOOP;
    FOREACH name IN ARRAY tables LOOP
        EXECUTE format('INSERT INTO mnemon.%1$I (%2$s) SELECT %2$s FROM pg_temp.%1$I WHERE tenant_id = $1', name,
                       mnemon.written_columns(('mnemon.' || name)::regclass)) USING tenant;
    END LOOP;
END $$;

-- Which tenants have texts that wait for a vector. It tells a process where to look, and nothing of what is there.
CREATE FUNCTION mnemon.tenants_with_pending_texts() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT DISTINCT tenant_id FROM mnemon.memory_pending_texts
$$;

-- Search runs as the owner, since row-level security would keep it from the indexes; the tenant is the session's.
-- `branches` and `bounds` are a view: nearest branch first, each with the last sequence that it is seen up to.
CREATE FUNCTION mnemon.is_shown(tenant uuid, world uuid, branches text[], bounds bigint[], shown mnemon.emo_history)
    RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM unnest(branches, bounds) WITH ORDINALITY AS line (branch, bound, level)
         WHERE shown.branch = line.branch AND shown.since <= line.bound AND shown.until > line.bound
           AND (line.level = 1 OR NOT EXISTS (
               SELECT FROM unnest(branches, bounds) WITH ORDINALITY AS nearer (branch, bound, level)
                 JOIN mnemon.emo_history h ON h.branch = nearer.branch AND h.since <= nearer.bound
                WHERE nearer.level < line.level AND h.tenant_id = tenant AND h.world_id = world
                  AND h.emo_id = shown.emo_id)))
$$;

-- The same as a condition in a statement's text, where $1 is the branches and $2 the bounds; simpler for a trunk, which
-- has nothing to look up in a nearer branch.
CREATE FUNCTION mnemon.shown_condition(branches text[], alias text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT format(CASE WHEN cardinality(branches) = 1
        THEN '%1$s.branch = ($1)[1] AND %1$s.since <= ($2)[1] AND %1$s.until > ($2)[1]'
        ELSE '%1$s.branch = ANY ($1) AND mnemon.is_shown($3, $4, $1, $2, %1$s)' END, alias)
$$;

-- The objects that hold any of the words, best first. Candidates are capped before they are ranked.
CREATE FUNCTION mnemon.search_memory_words(
    words text, world uuid, branches text[], bounds bigint[], kind text, with_tags text[], changed_since timestamptz,
    most integer) RETURNS TABLE (emo_id uuid, score real)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    asked tsquery := websearch_to_tsquery('english', words);
BEGIN
    -- Any of the words will do, unless one is ruled out: then "or" would let everything else in.
    IF asked::text NOT LIKE '%!%' THEN
        asked := replace(asked::text, ' & ', ' | ')::tsquery;
    END IF;
    RETURN QUERY EXECUTE format($q$
        SELECT found.emo_id, ts_rank_cd(found.words, $5, 1) AS score
          FROM (SELECT h.emo_id, h.words FROM mnemon.emo_history h
                 WHERE h.tenant_id = $3 AND h.world_id = $4 AND NOT h.deleted AND h.words @@ $5
                   AND ($6 IS NULL OR h.emo_type = $6) AND ($7 IS NULL OR h.tags @> $7)
                   AND ($8 IS NULL OR h.updated_at >= $8) AND %s
                 LIMIT 5000) AS found
         ORDER BY score DESC, found.emo_id LIMIT $9 $q$, mnemon.shown_condition(branches, 'h'))
    USING branches, bounds, mnemon.current_tenant(), world, asked, kind, with_tags, changed_since, most;
END $$;

-- The texts nearest to a question, in vectors of one model. A tenant with few vectors is searched exactly; one with many
-- by the index, which goes on until enough of what it finds is shown.
CREATE FUNCTION mnemon.search_memory_vectors(
    question text, model text, dimension integer, world uuid, branches text[], bounds bigint[], kinds text[],
    kind text, with_tags text[], changed_since timestamptz, most integer)
    RETURNS TABLE (emo_id uuid, text_kind text, name text, emo_version integer, similarity double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    SET enable_sort = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    tenant   uuid := mnemon.current_tenant();
    -- What a trunk shows of an object that is not narrowed down further, its texts tell by themselves.
    plain    boolean := cardinality(branches) = 1 AND num_nonnulls(kind, with_tags, changed_since) = 0;
    -- As the vectors are stored, which no index knows, or in the form that the index is of.
    distance text := CASE WHEN mnemon.has_few_vectors(tenant, model) THEN 'v.embedding <=> $5::vector'
                          ELSE format('v.embedding::halfvec(%1$s) <=> $5::halfvec(%1$s)', dimension) END;
BEGIN
    -- Not with the function, where a restore could not set them: they are known once a vector has been touched.
    PERFORM '[1]'::vector;
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '100', true),
            set_config('hnsw.max_scan_tuples', '200000', true);
    RETURN QUERY EXECUTE format($q$
        SELECT t.emo_id, t.kind, t.name, t.emo_version, 1 - near.distance AS similarity
          FROM (SELECT v.text_hash, %1$s AS distance FROM mnemon.memory_vectors v
                 WHERE v.tenant_id = $3 AND v.model_id = %2$L ORDER BY distance) AS near
          JOIN mnemon.emo_texts t ON t.tenant_id = $3 AND t.text_hash = near.text_hash AND t.world_id = $4
           AND t.kind = ANY ($6) %3$s
         ORDER BY near.distance LIMIT $7 $q$,
        distance, model,
        CASE WHEN plain THEN 'AND ' || mnemon.shown_condition(branches, 't') ELSE format($j$
          JOIN unnest($1, $2) AS line (branch, bound)
            ON t.branch = line.branch AND t.since <= line.bound AND t.until > line.bound
          JOIN mnemon.emo_history h ON h.tenant_id = $3 AND h.world_id = $4 AND h.emo_id = t.emo_id AND NOT h.deleted
           AND (t.kind = 'rationale' OR h.branch = t.branch) AND %1$s
           AND ($8 IS NULL OR h.emo_type = $8) AND ($9 IS NULL OR h.tags @> $9) AND ($10 IS NULL OR h.updated_at >= $10)
           $j$, mnemon.shown_condition(branches, 'h')) END)
    USING branches, bounds, tenant, world, question, kinds, most, kind, with_tags, changed_since;
END $$;

CREATE FUNCTION mnemon.has_few_vectors(tenant uuid, model text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT count(*) <= 2000 FROM (
        SELECT FROM mnemon.memory_vectors v WHERE v.tenant_id = tenant AND v.model_id = model LIMIT 2001) AS counted
$$;

REVOKE EXECUTE ON FUNCTION mnemon.shown_condition, mnemon.has_few_vectors FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION mnemon.is_shown, mnemon.search_memory_words, mnemon.search_memory_vectors FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.search_memory_words, mnemon.search_memory_vectors TO mnemon_app;
REVOKE EXECUTE ON FUNCTION mnemon.write_memory, mnemon.project_memory, mnemon.exchange_memory,
    mnemon.tenants_with_pending_texts, mnemon.queue_new_texts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.write_memory, mnemon.project_memory, mnemon.exchange_memory,
    mnemon.tenants_with_pending_texts TO mnemon_app;
