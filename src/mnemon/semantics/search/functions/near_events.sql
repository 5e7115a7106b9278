-- Events of about the same meaning as the question $5. Nearer than this is about the same matter; farther away
-- everything is near to something. The nearest are found first and then looked at: to go on until enough of them fit
-- would walk through much of the index. Of one artifact all are compared.
CREATE OR REPLACE FUNCTION mnemon.near_events(wanted jsonb, question vector, scope text) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    model record;
BEGIN
    SELECT model_id, dimension INTO model FROM embedding_models
     WHERE tenant_id = current_tenant() AND relation = 'mnemon.semantic_event_vectors' AND state = 'active'
       AND dimension = vector_dims(question);
    IF NOT FOUND THEN
        RETURN 'SELECT NULL::text AS event_id, NULL::timestamptz AS happened_at, NULL::float8 AS similarity
                 WHERE false';
    END IF;
    -- Here and not in the function's head, where only a superuser could restore them from a backup.
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '100', true);
    RETURN format(
        'SELECT e.event_id, e.happened_at, 1 - v.distance AS similarity
           FROM (SELECT n.tenant_id, n.event_id, n.embedding::halfvec(%1$s) <=> $5::halfvec(%1$s) AS distance
                   FROM semantic_event_vectors n
                  WHERE n.tenant_id = $1 AND n.model_id = %2$L AND %3$s) AS v
           JOIN semantic_events e ON e.tenant_id = v.tenant_id AND e.event_id = v.event_id
          WHERE v.distance <= 0.55 AND %4$s',
        model.dimension, model.model_id,
        CASE WHEN wanted ? 'doc_id'
        THEN format('n.event_id = ANY (ARRAY(SELECT o.event_id FROM semantic_events o
                                              WHERE o.tenant_id = $1 AND o.doc_id = %L::uuid))', wanted ->> 'doc_id')
        ELSE format('true ORDER BY n.embedding::halfvec(%s) <=> $5::halfvec(%1$s) LIMIT 100', model.dimension) END,
        scope);
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.near_events FROM PUBLIC;
