-- The events nearest to a question's vector, by the tenant's active model. Nearer than this is about the same matter;
-- farther away everything is near to something. The nearest are found first and then held against the filters: to go on
-- until enough of them fit would walk through much of the index. Of one document all are compared.
CREATE OR REPLACE FUNCTION mnemon.near_events(question vector, document uuid)
    RETURNS TABLE (event_id text, similarity float8)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp SET enable_seqscan = off AS $$
DECLARE
    model record;
BEGIN
    SELECT m.model_id, m.dimension INTO model FROM embedding_models m
     WHERE m.tenant_id = current_tenant() AND m.relation = 'mnemon.semantic_event_vectors' AND m.state = 'active'
       AND m.dimension = vector_dims(question);
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF document IS NOT NULL THEN
        RETURN QUERY
            SELECT v.event_id, 1 - (v.embedding <=> question) FROM semantic_event_vectors v
             WHERE v.tenant_id = current_tenant() AND v.model_id = model.model_id
               AND v.event_id = ANY (ARRAY(SELECT e.event_id FROM semantic_events e
                                            WHERE e.tenant_id = current_tenant() AND e.doc_id = document))
               AND v.embedding <=> question <= 0.55;
        RETURN;
    END IF;
    -- Here and not in the function's head, where only a superuser could restore them from a backup.
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '100', true);
    -- Only what the index is of stands in the statement's text.
    RETURN QUERY EXECUTE format(
        'SELECT v.event_id, 1 - v.distance
           FROM (SELECT n.event_id, n.embedding::halfvec(%1$s) <=> $2::halfvec(%1$s) AS distance
                   FROM semantic_event_vectors n WHERE n.tenant_id = $1 AND n.model_id = %2$L
                  ORDER BY n.embedding::halfvec(%1$s) <=> $2::halfvec(%1$s) LIMIT 100) AS v
          WHERE v.distance <= 0.55', model.dimension, model.model_id)
    USING current_tenant(), question;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.near_events FROM PUBLIC;
