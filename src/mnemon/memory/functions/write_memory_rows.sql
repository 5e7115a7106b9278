-- What the projector worked out is written by statements whose plans are kept, instead of made anew for every change:
-- the tables are named without their schema, and the callers' search path says which ones are meant. A plan that is
-- kept must be right for one row and for a hundred thousand, so the callers leave it nothing but lookups by index.
CREATE OR REPLACE FUNCTION mnemon.write_memory_rows(rows jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    tenant uuid := mnemon.current_tenant();
    still  bigint := 9223372036854775807;
BEGIN
    IF tenant IS NULL THEN
        RAISE EXCEPTION 'no tenant is set' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF rows ? 'closed' THEN
        UPDATE emo_history t SET until = c.until FROM jsonb_to_recordset(rows->'closed')
            AS c (world_id uuid, branch text, emo_id uuid, until bigint)
            WHERE t.tenant_id = tenant AND t.world_id = c.world_id AND t.branch = c.branch AND t.emo_id = c.emo_id
              AND t.until = still;
        UPDATE emo_graph_nodes t SET until = c.until FROM jsonb_to_recordset(rows->'closed')
            AS c (world_id uuid, branch text, emo_id uuid, until bigint)
            WHERE t.tenant_id = tenant AND t.world_id = c.world_id AND t.branch = c.branch AND t.emo_id = c.emo_id
              AND t.until = still;
    END IF;
    IF rows ? 'closed_texts' THEN
        UPDATE emo_texts t SET until = c.until FROM jsonb_to_recordset(rows->'closed_texts')
            AS c (world_id uuid, branch text, emo_id uuid, kind text, name text, until bigint)
            WHERE t.tenant_id = tenant AND t.world_id = c.world_id AND t.branch = c.branch AND t.emo_id = c.emo_id
              AND t.kind = c.kind AND (c.name IS NULL OR t.name = c.name) AND t.until = still;
    END IF;
    IF rows ? 'closed_edges' THEN
        UPDATE emo_graph_edges t SET until = c.until FROM jsonb_to_recordset(rows->'closed_edges')
            AS c (world_id uuid, branch text, emo_id uuid, edge_id uuid, kind text, until bigint)
            WHERE t.tenant_id = tenant AND t.world_id = c.world_id AND t.branch = c.branch AND t.owner_id = c.emo_id
              AND (c.edge_id IS NULL OR t.edge_id = c.edge_id) AND (c.kind IS NULL OR t.kind = c.kind)
              AND t.until = still;
    END IF;
    -- What explains an object comes back with it.
    IF rows ? 'reopened' THEN
        INSERT INTO emo_texts SELECT t.tenant_id, t.world_id, t.branch, t.emo_id, t.kind, t.name,
            c.since, still, t.emo_version, t.text_hash FROM emo_texts t JOIN jsonb_to_recordset(rows->'reopened')
            AS c (world_id uuid, branch text, emo_id uuid, closed_at bigint, since bigint)
            ON t.tenant_id = tenant AND t.world_id = c.world_id AND t.branch = c.branch AND t.emo_id = c.emo_id
            WHERE t.kind = 'rationale' AND t.until = c.closed_at;
        INSERT INTO emo_graph_edges SELECT t.tenant_id, t.world_id, t.branch, t.edge_id, c.since, still,
            t.graph, t.owner_id, t.kind, t.source_id, t.target_id, t.target, t.properties
            FROM emo_graph_edges t JOIN jsonb_to_recordset(rows->'reopened')
            AS c (world_id uuid, branch text, emo_id uuid, closed_at bigint, since bigint)
            ON t.tenant_id = tenant AND t.world_id = c.world_id AND t.branch = c.branch AND t.owner_id = c.emo_id
            WHERE t.kind = 'EXPLAINED_BY' AND t.until = c.closed_at;
    END IF;
    IF rows ? 'unlinked' THEN
        DELETE FROM emo_links t USING jsonb_to_recordset(rows->'unlinked')
            AS c (world_id uuid, branch text, emo_id uuid, link_id uuid)
            WHERE t.tenant_id = tenant AND t.world_id = c.world_id AND t.branch = c.branch AND t.emo_id = c.emo_id
              AND t.link_id = c.link_id;
    END IF;
    -- A newer row of the same key takes the place of the older: objects and branches have one row each.
    IF rows ? 'emo_branches' THEN
        DELETE FROM emo_branches t USING jsonb_to_recordset(rows->'emo_branches') AS c (world_id uuid, branch text)
            WHERE t.tenant_id = tenant AND t.world_id = c.world_id AND t.branch = c.branch;
    END IF;
    IF rows ? 'emo_current' THEN
        INSERT INTO emo_current SELECT r.* FROM jsonb_populate_recordset(
                jsonb_populate_record(NULL::emo_current, jsonb_build_object('tenant_id', tenant)),
                rows->'emo_current') r
             WHERE r.tenant_id = tenant
            ON CONFLICT (tenant_id, world_id, branch, emo_id) DO UPDATE SET
                emo_version = excluded.emo_version, mime_type = excluded.mime_type, content = excluded.content,
                tags = excluded.tags, facets = excluded.facets, parents = excluded.parents, links = excluded.links,
                vector_meta = excluded.vector_meta, content_hash = excluded.content_hash,
                determinism_hash = excluded.determinism_hash, updated_at = excluded.updated_at,
                updated_by = excluded.updated_by, deleted = excluded.deleted, deleted_at = excluded.deleted_at,
                deletion_reason = excluded.deletion_reason, sequence = excluded.sequence,
                readers = excluded.readers, writers = excluded.writers;
    END IF;
    IF rows ? 'emo_branches' THEN
        INSERT INTO emo_branches SELECT r.* FROM jsonb_populate_recordset(
            jsonb_populate_record(NULL::emo_branches, jsonb_build_object('tenant_id', tenant)), rows->'emo_branches') r
         WHERE r.tenant_id = tenant;
    END IF;
    IF rows ? 'emo_history' THEN
        INSERT INTO emo_history
        (tenant_id, world_id, branch, emo_id, emo_version, since, until, change_id, operation_type, idempotency_key,
         diff, rationale,
         emo_type, base_version, mime_type, content, tags, facets, parents, links, subject_id, source_kind, source_uri,
         vector_meta, content_hash, determinism_hash, created_at, updated_at, updated_by, deleted, deleted_at,
         deletion_reason, compacted_by, owner, agent_id, session_id, readers, writers)
        SELECT tenant, world_id, branch, emo_id, emo_version, since, until, change_id, operation_type, idempotency_key,
         diff, rationale,
         emo_type, base_version, mime_type, content, tags, facets, parents, links, subject_id, source_kind, source_uri,
         vector_meta, content_hash, determinism_hash, created_at, updated_at, updated_by, deleted, deleted_at,
         deletion_reason, compacted_by, owner, agent_id, session_id, readers, writers
          FROM jsonb_populate_recordset(NULL::emo_history, rows->'emo_history');
    END IF;
    -- Who may read an object is said of all its versions, in every branch.
    IF rows ? 'shared' THEN
        UPDATE emo_current t SET readers = c.readers, writers = c.writers FROM jsonb_to_recordset(rows->'shared')
            AS c (world_id uuid, emo_id uuid, readers text[], writers text)
            WHERE t.tenant_id = tenant AND t.world_id = c.world_id AND t.emo_id = c.emo_id
              AND t.branch = ANY (ARRAY['main'] || ARRAY(SELECT b.branch FROM emo_branches b
                                                  WHERE b.tenant_id = tenant AND b.world_id = c.world_id));
        UPDATE emo_history t SET readers = c.readers, writers = c.writers FROM jsonb_to_recordset(rows->'shared')
            AS c (world_id uuid, emo_id uuid, readers text[], writers text)
            WHERE t.tenant_id = tenant AND t.world_id = c.world_id AND t.emo_id = c.emo_id
              AND t.branch = ANY (ARRAY['main'] || ARRAY(SELECT b.branch FROM emo_branches b
                                                  WHERE b.tenant_id = tenant AND b.world_id = c.world_id));
    END IF;
    IF rows ? 'emo_links' THEN
        INSERT INTO emo_links SELECT r.* FROM jsonb_populate_recordset(
            jsonb_populate_record(NULL::emo_links, jsonb_build_object('tenant_id', tenant)), rows->'emo_links') r
         WHERE r.tenant_id = tenant;
    END IF;
    IF rows ? 'emo_texts' THEN
        INSERT INTO emo_texts SELECT r.* FROM jsonb_populate_recordset(
            jsonb_populate_record(NULL::emo_texts, jsonb_build_object('tenant_id', tenant)), rows->'emo_texts') r
         WHERE r.tenant_id = tenant;
    END IF;
    IF rows ? 'emo_graph_nodes' THEN
        INSERT INTO emo_graph_nodes SELECT r.* FROM jsonb_populate_recordset(
            jsonb_populate_record(NULL::emo_graph_nodes, jsonb_build_object('tenant_id', tenant)),
            rows->'emo_graph_nodes') r
         WHERE r.tenant_id = tenant;
    END IF;
    IF rows ? 'emo_graph_edges' THEN
        INSERT INTO emo_graph_edges SELECT r.* FROM jsonb_populate_recordset(
            jsonb_populate_record(NULL::emo_graph_edges, jsonb_build_object('tenant_id', tenant)),
            rows->'emo_graph_edges') r
         WHERE r.tenant_id = tenant;
    END IF;
    IF rows ? 'compacted' THEN
        UPDATE emo_history t SET content = NULL, compacted_by = c.change_id
             FROM jsonb_to_recordset(rows->'compacted')
               AS c (world_id uuid, branch text, emo_id uuid, emo_version integer, change_id uuid)
            WHERE t.tenant_id = tenant AND t.world_id = c.world_id AND t.branch = c.branch AND t.emo_id = c.emo_id
              AND t.emo_version = c.emo_version AND t.until < still AND t.content IS NOT NULL;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.write_memory_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.write_memory_rows TO mnemon_app;
