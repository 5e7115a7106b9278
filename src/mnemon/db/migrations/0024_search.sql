-- Search: the chunks that may answer a question, and what is known of each of them. These functions run as the owner, who
-- takes the tenant from the session: row-level security would keep the application role from using the GIN index.

-- The best chunks by BM25 among those with one of the terms of `keys`; or with two of them if `pairs`, and if those are too
-- few with the first. Every word counts for the score; the keys are those of the rare ones, so that the list to be scored
-- stays short. `revisions` NULL means the active ones. The words come as parameters and not in the text of the statement,
-- where each would take longer to plan than to look for.
CREATE FUNCTION mnemon.lexical_search(
    keys bigint[], pairs boolean, revisions uuid[], queries tsquery[], weights float8[],
    k1 float8, b float8, average float8, scored integer, most integer)
    RETURNS TABLE (doc_version_id uuid, ordinal integer, score float8)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET enable_seqscan = off AS $$
DECLARE
    wanted  text := 'mnemon.term_keys(tenant_id, terms) && $2';
    visible text := CASE WHEN something_is_hidden() THEN ' AND NOT is_hidden(doc_version_id)' ELSE '' END;
    found   text;
    enough  integer;
BEGIN
    IF pairs THEN
        SELECT string_agg(format('mnemon.term_keys(tenant_id, terms) @> ARRAY[%s, %s]::bigint[]', one, other), ' OR ')
        INTO wanted FROM unnest(keys) AS one, unnest(keys) AS other WHERE one < other;
    END IF;
    found := format('SELECT doc_version_id, ordinal, terms, $6 * (1 - $7 + $7 * length / $8) AS norm FROM chunk_terms
        WHERE tenant_id = $1 AND %%s AND (%s)%s', wanted, visible);
    IF revisions IS NULL THEN
        found := format(found, 'active');
    ELSE
        found := format(found, 'active AND doc_version_id = ANY ($3)') || ' UNION ALL '
            || format(found, 'NOT active AND doc_version_id = ANY ($3)');
    END IF;
    -- tf * (k1 + 1) / (tf + norm), written so that the occurrences are counted once.
    RETURN QUERY EXECUTE format(
        'WITH words AS MATERIALIZED (SELECT * FROM unnest($4, $5) AS one (query, weight))
         SELECT doc_version_id, ordinal, (SELECT sum(weight * (1 - norm / (norm + occurrences(terms, query)))) FROM words)
             * ($6 + 1) AS score
         FROM (SELECT * FROM (%s) AS matching LIMIT $9) AS scored
         ORDER BY score DESC, doc_version_id, ordinal LIMIT $10', found)
    USING current_tenant(), keys, revisions, queries, weights, k1, b, greatest(average, 1), scored, most;
    GET DIAGNOSTICS enough = ROW_COUNT;
    IF pairs AND enough < most THEN
        RETURN QUERY SELECT * FROM lexical_search(
            keys[1:1], false, revisions, queries, weights, k1, b, average, scored, most - enough);
    END IF;
END $$;

-- The chunks nearest to a question's vector, by the tenant's active model. Through the index of that model, which goes on
-- past other tenants' rows until it has enough; or `exhaustive`, which compares every vector in question.
CREATE FUNCTION mnemon.nearest_chunks(question vector, revisions uuid[], exhaustive boolean, most integer)
    RETURNS TABLE (doc_version_id uuid, ordinal integer, similarity float8)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET enable_seqscan = off AS $$
DECLARE
    model record;
    distance text := 'embedding <=> $2';
    scope text := 'c.active';
BEGIN
    SELECT model_id, dimension INTO model FROM embedding_models
    WHERE tenant_id = current_tenant() AND relation = 'mnemon.chunk_vectors' AND state = 'active';
    IF NOT FOUND OR question IS NULL OR model.dimension <> vector_dims(question) THEN
        RETURN;
    END IF;
    IF NOT exhaustive THEN
        distance := format('embedding::halfvec(%s) <=> $2::halfvec(%1$s)', model.dimension);
        -- Here and not in the function's head, where only a superuser could restore them from a backup. Sorting would
        -- mean that the index was not used.
        PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '100', true),
            set_config('enable_sort', 'off', true);
    END IF;
    IF revisions IS NOT NULL THEN
        scope := 'c.doc_version_id = ANY ($3)';
    END IF;
    IF something_is_hidden() THEN
        scope := scope || ' AND NOT is_hidden(c.doc_version_id)';
    END IF;
    RETURN QUERY EXECUTE format(
        'SELECT c.doc_version_id, c.ordinal, 1 - (v.%s) AS similarity
         FROM chunk_vectors AS v JOIN chunks AS c ON c.tenant_id = v.tenant_id AND c.chunk_id = v.chunk_id
         WHERE v.tenant_id = $1 AND v.model_id = %L AND %s
         ORDER BY v.%1$s LIMIT $4', distance, model.model_id, scope)
    USING current_tenant(), question, revisions, most;
    PERFORM set_config('enable_sort', 'on', true);
END $$;

-- What is known of these chunks and of those around them: how far a chunk is from the nearest of these, how near its
-- meaning is to the question's, how often it has each word, and which words its headings have. The last two come as texts
-- with a letter for each word, the number counted from `0` on: arrays would take the caller longer to read than us to make.
-- Every step looks up few rows by their whole key. OFFSET 0 holds the planner to that: without statistics it would rather
-- read all of a tenant's rows once per row.
CREATE FUNCTION mnemon.measure_chunks(
    revisions uuid[], ordinals integer[], reach integer, nearby integer, queries tsquery[], question vector, model text)
    RETURNS TABLE (doc_version_id uuid, ordinal integer, away integer, start_offset integer, end_offset integer,
                   length integer, speaker text, similarity float8, occurrences text, in_headings text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := current_tenant();
BEGIN
RETURN QUERY
WITH words AS MATERIALIZED (
    SELECT query FROM unnest(queries) AS query
)
SELECT t.doc_version_id, t.ordinal, n.away, t.start_offset, t.end_offset, t.length, t.speaker,
    coalesce(1 - (v.embedding <=> question), 0),
    (SELECT string_agg(chr(48 + mnemon.occurrences(t.terms, query)), '') FROM words),
    (SELECT string_agg(CASE WHEN t.heading_terms @@ query OR title.terms @@ query THEN '1' ELSE '0' END, '') FROM words)
FROM (
    SELECT revision, array_agg(ordinal) AS ordinals FROM unnest(revisions, ordinals) AS hit (revision, ordinal)
    GROUP BY revision) AS r
LEFT JOIN LATERAL (
    SELECT to_tsvector('english', d.title) AS terms
    FROM document_versions AS version JOIN documents AS d ON d.tenant_id = tenant AND d.doc_id = version.doc_id
    WHERE version.tenant_id = tenant AND version.doc_version_id = r.revision
    OFFSET 0) AS title ON true
CROSS JOIN LATERAL (
    SELECT beside.ordinal, min(abs(beside.ordinal - hit.ordinal)) AS away
    FROM chunk_terms AS hit
    CROSS JOIN LATERAL (
        SELECT ordinal, start_offset, end_offset FROM chunk_terms
        WHERE tenant_id = tenant AND doc_version_id = r.revision
          AND ordinal BETWEEN hit.ordinal - reach AND hit.ordinal + reach
        OFFSET 0) AS beside
    WHERE hit.tenant_id = tenant AND hit.doc_version_id = r.revision AND hit.ordinal = ANY (r.ordinals)
      AND (beside.ordinal = hit.ordinal
        OR abs(beside.start_offset + beside.end_offset - hit.start_offset - hit.end_offset) / 2 < nearby)
    GROUP BY beside.ordinal
    OFFSET 0) AS n
CROSS JOIN LATERAL (
    SELECT * FROM chunk_terms
    WHERE tenant_id = tenant AND doc_version_id = r.revision AND ordinal = n.ordinal
    OFFSET 0) AS t
LEFT JOIN LATERAL (
    SELECT embedding FROM chunk_vectors
    WHERE tenant_id = tenant AND model_id = model AND chunk_id = t.chunk_id
    OFFSET 0) AS v ON true
ORDER BY t.doc_version_id, t.ordinal;
END $$;

-- The chunks that may answer a question, by their words and by their meaning, measured with those around them.
CREATE FUNCTION mnemon.find_chunks(
    keys bigint[], pairs boolean, revisions uuid[], queries tsquery[], weights float8[],
    k1 float8, b float8, average float8, scored integer,
    question vector, model text, exhaustive boolean, most integer, reach integer, nearby integer)
    RETURNS TABLE (doc_version_id uuid, ordinal integer, away integer, start_offset integer, end_offset integer,
                   length integer, speaker text, similarity float8, occurrences text, in_headings text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    near  record;
    found record;
BEGIN
    SELECT array_agg(n.doc_version_id) AS revisions, array_agg(n.ordinal) AS ordinals INTO near
    FROM nearest_chunks(question, revisions, exhaustive, most) AS n;
    -- The index ran dry: what it passed by is found by comparing all.
    IF question IS NOT NULL AND NOT exhaustive AND coalesce(cardinality(near.ordinals), 0) < most THEN
        SELECT array_agg(n.doc_version_id) AS revisions, array_agg(n.ordinal) AS ordinals INTO near
        FROM nearest_chunks(question, revisions, true, most) AS n;
    END IF;
    SELECT array_agg(one.doc_version_id) AS revisions, array_agg(one.ordinal) AS ordinals INTO found
    FROM (
        SELECT l.doc_version_id, l.ordinal
        FROM lexical_search(keys, pairs, revisions, queries, weights, k1, b, average, scored, most) AS l
        UNION SELECT * FROM unnest(near.revisions, near.ordinals)) AS one;
    RETURN QUERY SELECT * FROM measure_chunks(found.revisions, found.ordinals, reach, nearby, queries, question, model);
END $$;

DO $$
DECLARE
    callable regprocedure;
BEGIN
    FOREACH callable IN ARRAY ARRAY[
        'mnemon.lexical_search(bigint[], boolean, uuid[], tsquery[], float8[], float8, float8, float8, integer, integer)',
        'mnemon.nearest_chunks(vector, uuid[], boolean, integer)',
        'mnemon.measure_chunks(uuid[], integer[], integer, integer, tsquery[], vector, text)',
        'mnemon.find_chunks(bigint[], boolean, uuid[], tsquery[], float8[], float8, float8, float8, integer, '
            'vector, text, boolean, integer, integer, integer)']::regprocedure[]
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', callable);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO mnemon_app', callable);
    END LOOP;
END $$;
