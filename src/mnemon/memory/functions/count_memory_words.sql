-- Words that come into the lens or leave it are counted, so that a search knows which are rare. A compacted version
-- loses its words by an update.
CREATE OR REPLACE FUNCTION mnemon.count_memory_words() RETURNS trigger
    LANGUAGE plpgsql SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    keys    bigint[];
    amounts integer[];
    texts   bigint;
    length  bigint;
BEGIN
    IF current_tenant() IS NULL THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'INSERT' THEN
        SELECT array_agg(key), array_agg(amount) INTO keys, amounts
          FROM (SELECT key, count(*)::integer AS amount FROM added, unnest(term_keys(tenant_id, words)) AS key
                 GROUP BY key) AS each;
        SELECT count(*), coalesce(sum(length(words)), 0) INTO texts, length FROM added WHERE words IS NOT NULL;
    ELSIF TG_OP = 'DELETE' THEN
        SELECT array_agg(key), array_agg(amount) INTO keys, amounts
          FROM (SELECT key, -count(*)::integer AS amount FROM gone, unnest(term_keys(tenant_id, words)) AS key
                 GROUP BY key) AS each;
        SELECT -count(*), -coalesce(sum(length(words)), 0) INTO texts, length FROM gone WHERE words IS NOT NULL;
    ELSIF EXISTS (SELECT FROM added WHERE words IS NULL) THEN
        SELECT array_agg(key), array_agg(amount) INTO keys, amounts
          FROM (SELECT key, -count(*)::integer AS amount
                  FROM gone JOIN added USING (tenant_id, world_id, branch, emo_id, emo_version),
                       unnest(term_keys(tenant_id, gone.words)) AS key
                 WHERE added.words IS NULL GROUP BY key) AS each;
        SELECT -count(*), -coalesce(sum(length(gone.words)), 0) INTO texts, length
          FROM gone JOIN added USING (tenant_id, world_id, branch, emo_id, emo_version)
         WHERE gone.words IS NOT NULL AND added.words IS NULL;
    END IF;
    IF texts <> 0 THEN
        PERFORM count_terms('memory', 0::smallint, keys, amounts, texts, length);
    END IF;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.count_memory_words FROM PUBLIC;
