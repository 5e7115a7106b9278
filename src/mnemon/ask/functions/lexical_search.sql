-- The best chunks by BM25, lookup by lookup: those that have one and all of certain keys are scored, up to `scored` of
-- them. Once enough reach a lookup's bar, it can bring nothing better. Every word counts for the score. `revisions`
-- NULL means the active ones. The words come as parameters and not in the text of a statement, where each would take
-- longer to plan than to look for; plans are made for the values at hand, since what is quick for a few revisions is
-- not for all. What the reader may not see is looked up here and not by `is_hidden`: to call that for thousands of
-- chunks takes ten times as long as to score them.
CREATE OR REPLACE FUNCTION mnemon.lexical_search(
    one_of text[], every text[], bars float8[], revisions uuid[], queries tsquery[], weights float8[],
    k1 float8, b float8, average float8, scored integer, most integer)
    RETURNS TABLE (doc_version_id uuid, ordinal integer, score float8)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
DECLARE
    tenant  uuid := current_tenant();
    hiding  boolean := something_is_hidden();
    found   uuid[] := '{}';
    scores  float8[] := '{}';
BEGIN
    FOR number IN 1 .. cardinality(bars) LOOP
        EXIT WHEN (SELECT count(*) FROM unnest(scores) AS score WHERE score >= bars[number]) >= most;
        -- tf * (k1 + 1) / (tf + norm), written so that the occurrences are counted once.
        SELECT found || coalesce(array_agg(best.chunk_id), '{}'), scores || coalesce(array_agg(best.score), '{}')
        INTO found, scores
        FROM (
            WITH words AS MATERIALIZED (SELECT * FROM unnest(queries, weights) AS one (query, weight))
            SELECT c.chunk_id, (SELECT sum(weight * (1 - norm / (norm + mnemon.occurrences(terms, query)))) FROM words)
                * (k1 + 1) AS score
            FROM (
                SELECT * FROM (
                    SELECT chunk_id, terms, k1 * (1 - b + b * length / greatest(average, 1)) AS norm FROM chunk_terms
                    WHERE tenant_id = tenant AND active AND (revisions IS NULL OR doc_version_id = ANY (revisions))
                      AND term_keys(tenant_id, terms) && one_of[number]::bigint[]
                      AND term_keys(tenant_id, terms) @> every[number]::bigint[]
                      AND (NOT hiding OR NOT EXISTS (
                          SELECT FROM document_revisions AS own
                          WHERE own.tenant_id = tenant AND own.doc_version_id = chunk_terms.doc_version_id
                            AND own.readers IS NOT NULL AND NOT may_read(own.readers) OFFSET 0))
                    UNION ALL
                    SELECT chunk_id, terms, k1 * (1 - b + b * length / greatest(average, 1)) AS norm FROM chunk_terms
                    WHERE tenant_id = tenant AND NOT active AND doc_version_id = ANY (revisions)
                      AND term_keys(tenant_id, terms) && one_of[number]::bigint[]
                      AND term_keys(tenant_id, terms) @> every[number]::bigint[]
                      AND (NOT hiding OR NOT EXISTS (
                          SELECT FROM document_revisions AS own
                          WHERE own.tenant_id = tenant AND own.doc_version_id = chunk_terms.doc_version_id
                            AND own.readers IS NOT NULL AND NOT may_read(own.readers) OFFSET 0))) AS matching
                WHERE chunk_id <> ALL (found) LIMIT scored) AS c
            ORDER BY score DESC, chunk_id LIMIT most) AS best;
    END LOOP;
    RETURN QUERY
    SELECT c.doc_version_id, c.ordinal, one.score
    FROM unnest(found, scores) AS one (chunk_id, score)
    CROSS JOIN LATERAL (
        SELECT doc_version_id, ordinal FROM chunks WHERE tenant_id = tenant AND chunk_id = one.chunk_id OFFSET 0) AS c
    ORDER BY one.score DESC LIMIT most;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.lexical_search FROM PUBLIC, mnemon_app;
