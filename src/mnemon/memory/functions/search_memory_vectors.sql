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
#variable_conflict use_column
DECLARE
    tenant uuid := mnemon.current_tenant();
    few    boolean := mnemon.has_few_vectors(tenant, model);
    -- What a trunk shows of an object that is not narrowed down further, its texts tell by themselves.
    plain  boolean := cardinality(branches) = 1
        AND num_nonnulls(kind, with_tags, changed_since, about, owned_by, of_agent, of_session) = 0
        AND NOT EXISTS (SELECT FROM emo_current c WHERE c.tenant_id = mnemon.current_tenant() AND c.world_id = world
                                                    AND c.readers IS NOT NULL AND NOT mnemon.may_read(c.readers));
BEGIN
    -- Most questions: a plan that is kept serves them, where the other statement is planned each time.
    IF few AND plain THEN
        RETURN QUERY
        SELECT t.emo_id, t.kind, t.name, t.emo_version, 1 - near.distance
          FROM (SELECT v.text_hash, v.embedding <=> question AS distance FROM memory_vectors v
                 WHERE v.tenant_id = tenant AND v.model_id = model ORDER BY distance) AS near
         CROSS JOIN LATERAL (
               SELECT t.* FROM emo_texts t WHERE t.tenant_id = tenant AND t.text_hash = near.text_hash OFFSET 0) AS t
         WHERE t.world_id = world AND t.kind = ANY (kinds)
           AND t.branch = branches[1] AND t.since <= bounds[1] AND t.until > bounds[1]
         ORDER BY near.distance LIMIT most;
        RETURN;
    END IF;
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
           AND ($15 OR EXISTS (
               SELECT FROM emo_history h
                WHERE h.tenant_id = $3 AND h.world_id = $4 AND h.branch = ANY ($1) AND h.emo_id = t.emo_id
                  AND NOT h.deleted AND (t.kind = 'rationale' OR h.branch = t.branch)
                  AND mnemon.is_in_view($4, $1, $2, h)
                  AND mnemon.is_wanted_memory(h, $8, $9, $10, $11, $12, $13, $14)))
         ORDER BY near.distance LIMIT $7 $q$,
        CASE WHEN few THEN 'v.embedding <=> $5'
             ELSE format('v.embedding::halfvec(%1$s) <=> $5::halfvec(%1$s)', vector_dims(question)) END, model)
    USING branches, bounds, tenant, world, question, kinds, most, kind, with_tags, changed_since,
          about, owned_by, of_agent, of_session, plain;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.search_memory_vectors FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.search_memory_vectors TO mnemon_app;
