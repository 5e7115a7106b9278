-- The best chunks by BM25 among those with one of the terms of `keys`; or with two of them if `pairs`, and if those
-- are too few with the first. Every word counts for the score; the keys are those of the rare ones, so that the list
-- to be scored stays short. `revisions` NULL means the active ones. The words come as parameters and not in the text
-- of the statement, where each would take longer to plan than to look for.
CREATE OR REPLACE FUNCTION mnemon.lexical_search(
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
         SELECT doc_version_id, ordinal,
             (SELECT sum(weight * (1 - norm / (norm + occurrences(terms, query)))) FROM words)
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
REVOKE EXECUTE ON FUNCTION mnemon.lexical_search FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.lexical_search TO mnemon_app;
