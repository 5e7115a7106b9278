-- The objects that hold any of the words, best first. Candidates are capped before they are ranked.
CREATE OR REPLACE FUNCTION mnemon.search_memory_words(
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
REVOKE EXECUTE ON FUNCTION mnemon.search_memory_words FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.search_memory_words TO mnemon_app;
