-- The chunks nearest to a question's vector, by the tenant's active model. Through the index of that model, which
-- goes on past other tenants' rows until it has enough; or `exhaustive`, which compares every vector in question.
-- The statement is text: PostgreSQL takes the index of a model only where its model and the length of its vectors stand
-- written in the statement, and both are the tenant's. The rest is a choice among fixed words; values are parameters.
CREATE OR REPLACE FUNCTION mnemon.nearest_chunks(question vector, revisions uuid[], exhaustive boolean, most integer)
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
REVOKE EXECUTE ON FUNCTION mnemon.nearest_chunks FROM PUBLIC, mnemon_app;
