-- Counts the chunks of a revision in the tenant's statistics (direction 1), or takes them out again (-1).
CREATE OR REPLACE FUNCTION mnemon.count_chunk_terms(revision uuid, own_share smallint, direction integer) RETURNS void
    LANGUAGE plpgsql SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    -- Held to the end: whoever changes the same counts waits here, before it holds anything that we could want.
    PERFORM pg_advisory_xact_lock(hashtextextended('mnemon.term_counts' || current_tenant()::text, own_share));
    INSERT INTO chunk_counts (tenant_id, share, chunks, length)
    VALUES (current_tenant(), own_share, 0, 0) ON CONFLICT DO NOTHING;
    UPDATE chunk_counts AS counted
    SET chunks = counted.chunks + direction * own.chunks, length = counted.length + direction * own.length
    FROM (
        SELECT count(*) AS chunks, coalesce(sum(length), 0) AS length
        FROM chunk_terms WHERE tenant_id = current_tenant() AND doc_version_id = revision
    ) AS own
    WHERE tenant_id = current_tenant() AND share = own_share;
    IF direction = 1 THEN
        INSERT INTO term_counts AS counted (tenant_id, term_key, share, chunks)
        SELECT current_tenant(), key, own_share, count(*)
        FROM chunk_terms, unnest(term_keys(tenant_id, terms)) AS key
        WHERE tenant_id = current_tenant() AND doc_version_id = revision
        GROUP BY key
        ON CONFLICT (tenant_id, term_key, share) DO UPDATE SET chunks = counted.chunks + excluded.chunks;
        RETURN;
    END IF;
    -- A count of nothing is not kept: it would tell that a word once stood here.
    WITH own AS (
        SELECT key, count(*) AS chunks
        FROM chunk_terms, unnest(term_keys(tenant_id, terms)) AS key
        WHERE tenant_id = current_tenant() AND doc_version_id = revision
        GROUP BY key
    ), emptied AS (
        DELETE FROM term_counts AS counted USING own
        WHERE tenant_id = current_tenant() AND term_key = key AND share = own_share AND counted.chunks <= own.chunks
    )
    UPDATE term_counts AS counted SET chunks = counted.chunks - own.chunks FROM own
    WHERE tenant_id = current_tenant() AND term_key = key AND share = own_share AND counted.chunks > own.chunks;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.count_chunk_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.count_chunk_terms TO mnemon_app;
