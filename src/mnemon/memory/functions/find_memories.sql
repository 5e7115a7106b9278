-- The objects that may answer a question, by their words and by their meaning, with what the ranking needs of each: its
-- length, how near its meaning is, and how often it has each word, as letters counted from `0` on.
-- Words: lookup by lookup, the texts that have one and all of certain keys are scored, every one of them, and the best
-- are kept. Once enough reach a lookup's bar, it can bring nothing better. `branches` and `bounds` are a view.
CREATE OR REPLACE FUNCTION mnemon.find_memories(
    one_of text[], every text[], bars float8[], queries tsquery[], weights float8[],
    k1 float8, b float8, average float8, unwanted tsquery,
    question vector, model text, world uuid, branches text[], bounds bigint[], kind text, with_tags text[],
    changed_since timestamptz, about text, owned_by text, of_agent text, of_session text, most integer)
    RETURNS TABLE (emo_id uuid, length integer, similarity float8, occurrences text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := current_tenant();
    found  uuid[] := '{}';
    scores float8[] := '{}';
    near   uuid[];
BEGIN
    FOR number IN 1 .. cardinality(bars) LOOP
        EXIT WHEN (SELECT count(*) FROM unnest(scores) AS score WHERE score >= bars[number]) >= most;
        SELECT found || coalesce(array_agg(best.emo_id), '{}'), scores || coalesce(array_agg(best.score), '{}')
          INTO found, scores
          FROM (SELECT h.emo_id, (SELECT sum(weight * (1 - h.norm / (h.norm + mnemon.occurrences(h.words, query))))
                                    FROM unnest(queries, weights) AS word (query, weight)) * (k1 + 1) AS score
                  FROM (SELECT h.emo_id, h.words, k1 * (1 - b + b * length(h.words) / greatest(average, 1)) AS norm
                          FROM emo_history h
                         WHERE h.tenant_id = tenant AND h.world_id = world AND NOT h.deleted
                           AND term_keys(h.tenant_id, h.words) && one_of[number]::bigint[]
                           AND term_keys(h.tenant_id, h.words) @> every[number]::bigint[]
                           AND h.emo_id <> ALL (found) AND mnemon.is_in_view(world, branches, bounds, h)
                           AND mnemon.is_wanted_memory(h, kind, with_tags, changed_since, about, owned_by, of_agent,
                                                       of_session)
                           AND (unwanted IS NULL OR NOT h.words @@ unwanted)) AS h
                 ORDER BY score DESC, emo_id LIMIT most) AS best;
    END LOOP;
    IF question IS NOT NULL THEN
        near := ARRAY(SELECT n.emo_id FROM search_memory_vectors(
            question, model, world, branches, bounds, ARRAY['content'], kind, with_tags, changed_since,
            about, owned_by, of_agent, of_session, most) AS n);
    END IF;
    RETURN QUERY
    SELECT one.emo_id, length(h.words), 1 - (v.embedding <=> question),
           coalesce((SELECT string_agg(chr(48 + mnemon.occurrences(h.words, query)), '')
                       FROM unnest(queries) AS query), '')
      FROM (SELECT DISTINCT each FROM unnest(found || near) AS each) AS one (emo_id)
     CROSS JOIN LATERAL (
           SELECT h.words, h.content_hash FROM emo_history h
            WHERE h.tenant_id = tenant AND h.world_id = world AND h.branch = ANY (branches) AND h.emo_id = one.emo_id
              AND NOT h.deleted AND mnemon.is_in_view(world, branches, bounds, h)
              AND (unwanted IS NULL OR NOT h.words @@ unwanted)
           OFFSET 0) AS h
      LEFT JOIN LATERAL (
           SELECT v.embedding FROM memory_vectors v
            WHERE v.tenant_id = tenant AND v.text_hash = decode(h.content_hash, 'hex') AND v.model_id = model
           OFFSET 0) AS v ON true
     ORDER BY one.emo_id;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.find_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.find_memories TO mnemon_app;
