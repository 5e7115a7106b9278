-- Counts the chunks of a revision in the tenant's statistics (direction 1), or takes them out again (-1).
CREATE OR REPLACE FUNCTION mnemon.count_chunk_terms(revision uuid, own_share smallint, direction integer) RETURNS void
    LANGUAGE sql SET search_path = mnemon, public, pg_temp AS $$
    SELECT count_terms('passage', own_share, terms.keys, terms.amounts, direction * own.chunks, direction * own.length)
    FROM (
        SELECT count(*) AS chunks, coalesce(sum(length), 0) AS length
        FROM chunk_terms WHERE tenant_id = current_tenant() AND doc_version_id = revision
    ) AS own, (
        SELECT array_agg(key) AS keys, array_agg(amount) AS amounts
        FROM (
            SELECT key, (direction * count(*))::integer AS amount
            FROM chunk_terms, unnest(term_keys(tenant_id, terms)) AS key
            WHERE tenant_id = current_tenant() AND doc_version_id = revision
            GROUP BY key
        ) AS each
    ) AS terms
$$;
REVOKE EXECUTE ON FUNCTION mnemon.count_chunk_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.count_chunk_terms TO mnemon_app;
