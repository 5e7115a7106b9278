-- The texts nearest to a question, in vectors of one model. A tenant with few vectors is searched exactly; one with
-- many by the index, which goes on until enough of what it finds is shown. Only what the index is of stands in the
-- statement's text: the model, and the length of its vectors. OFFSET 0 holds the planner to lookups by the text.
CREATE OR REPLACE FUNCTION mnemon.search_memory_vectors(
    question vector, model text, world uuid, branches text[], bounds bigint[], kinds text[],
    kind text, with_tags text[], changed_since timestamptz, about text, owned_by text, of_agent text, of_session text,
    most integer)
    RETURNS TABLE (emo_id uuid, text_kind text, name text, emo_version integer, similarity double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    SET enable_sort = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    tenant   uuid := mnemon.current_tenant();
    distance text := CASE WHEN mnemon.has_few_vectors(tenant, model) THEN 'v.embedding <=> $5'
                          ELSE format('v.embedding::halfvec(%1$s) <=> $5::halfvec(%1$s)', vector_dims(question)) END;
    hidden   boolean := EXISTS (SELECT FROM emo_current c WHERE c.tenant_id = mnemon.current_tenant()
                                   AND c.world_id = world AND c.readers IS NOT NULL AND NOT mnemon.may_read(c.readers));
BEGIN
    -- Not with the function, where a restore could not set them: they are known once a vector has been touched.
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '100', true),
            set_config('hnsw.max_scan_tuples', '200000', true);
    RETURN QUERY EXECUTE format($q$
        SELECT t.emo_id, t.kind, t.name, t.emo_version, 1 - near.distance AS similarity
          FROM (SELECT v.text_hash, %1$s AS distance FROM memory_vectors v
                 WHERE v.tenant_id = $3 AND v.model_id = %2$L ORDER BY distance) AS near
         CROSS JOIN LATERAL (
               SELECT t.* FROM emo_texts t WHERE t.tenant_id = $3 AND t.text_hash = near.text_hash OFFSET 0) AS t
         WHERE t.world_id = $4 AND t.kind = ANY ($6)
           AND EXISTS (SELECT FROM unnest($1, $2) AS line (branch, bound)
                        WHERE t.branch = line.branch AND t.since <= line.bound AND t.until > line.bound)
           -- What a trunk shows of an object that is not narrowed down further, its texts tell by themselves.
           AND (cardinality($1) = 1 AND NOT $15 AND num_nonnulls($8, $9, $10, $11, $12, $13, $14) = 0 OR EXISTS (
               SELECT FROM emo_history h
                WHERE h.tenant_id = $3 AND h.world_id = $4 AND h.branch = ANY ($1) AND h.emo_id = t.emo_id
                  AND NOT h.deleted AND (t.kind = 'rationale' OR h.branch = t.branch)
                  AND mnemon.is_in_view($4, $1, $2, h)
                  AND ($8 IS NULL OR h.emo_type = $8) AND ($9 IS NULL OR h.tags @> $9)
                  AND ($10 IS NULL OR h.updated_at >= $10)
                  AND ($11 IS NULL OR h.subject_id = $11) AND ($12 IS NULL OR h.owner = $12)
                  AND ($13 IS NULL OR h.agent_id = $13) AND ($14 IS NULL OR h.session_id = $14)
                  AND (h.readers IS NULL OR mnemon.may_read(h.readers))))
         ORDER BY near.distance LIMIT $7 $q$, distance, model)
    USING branches, bounds, tenant, world, question, kinds, most, kind, with_tags, changed_since,
          about, owned_by, of_agent, of_session, hidden;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.search_memory_vectors FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.search_memory_vectors TO mnemon_app;
