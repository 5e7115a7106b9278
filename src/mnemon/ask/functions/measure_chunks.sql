-- What is known of these chunks and of those around them: how far a chunk is from the nearest of these, how near its
-- meaning is to the question's, how often it has each word, and which words its headings have. The last two come as
-- texts with a letter for each word, the number counted from `0` on: arrays would take the caller longer to read than
-- us to make. Every step looks up few rows by their whole key. OFFSET 0 holds the planner to that: without statistics
-- it would rather read all of a tenant's rows once per row.
CREATE OR REPLACE FUNCTION mnemon.measure_chunks(
    revisions uuid[], ordinals integer[], reach integer, nearby integer, queries tsquery[], question vector, model text)
    RETURNS TABLE (doc_version_id uuid, ordinal integer, away integer, start_offset integer, end_offset integer,
                   length integer, speaker text, said_on date, asks real, similarity float8,
                   occurrences text, in_headings text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := current_tenant();
BEGIN
RETURN QUERY
WITH words AS MATERIALIZED (
    SELECT query FROM unnest(queries) AS query
)
SELECT t.doc_version_id, t.ordinal, n.away, t.start_offset, t.end_offset, t.length, t.speaker, t.said_on, t.asks,
    coalesce(1 - (v.embedding <=> question), 0),
    (SELECT string_agg(chr(48 + mnemon.occurrences(t.terms, query)), '') FROM words),
    (SELECT string_agg(CASE WHEN t.heading_terms @@ query OR title.terms @@ query THEN '1' ELSE '0' END, '') FROM words)
FROM (
    SELECT revision, array_agg(ordinal) AS ordinals FROM unnest(revisions, ordinals) AS hit (revision, ordinal)
    GROUP BY revision) AS r
LEFT JOIN LATERAL (
    SELECT to_tsvector('english', d.title) AS terms
    FROM document_revisions AS version JOIN documents AS d ON d.tenant_id = tenant AND d.doc_id = version.doc_id
    WHERE version.tenant_id = tenant AND version.doc_version_id = r.revision
    OFFSET 0) AS title ON true
CROSS JOIN LATERAL (
    SELECT beside.ordinal, min(abs(beside.ordinal - hit.ordinal)) AS away
    FROM chunk_terms AS hit
    CROSS JOIN LATERAL (
        SELECT ordinal, start_offset, end_offset FROM chunk_terms
        WHERE tenant_id = tenant AND doc_version_id = r.revision
          AND ordinal BETWEEN hit.ordinal - reach AND hit.ordinal + reach
        OFFSET 0) AS beside
    WHERE hit.tenant_id = tenant AND hit.doc_version_id = r.revision AND hit.ordinal = ANY (r.ordinals)
      AND (beside.ordinal = hit.ordinal
        OR abs(beside.start_offset + beside.end_offset - hit.start_offset - hit.end_offset) / 2 < nearby)
    GROUP BY beside.ordinal
    OFFSET 0) AS n
CROSS JOIN LATERAL (
    SELECT * FROM chunk_terms
    WHERE tenant_id = tenant AND doc_version_id = r.revision AND ordinal = n.ordinal
    OFFSET 0) AS t
LEFT JOIN LATERAL (
    SELECT embedding FROM chunk_vectors
    WHERE tenant_id = tenant AND model_id = model AND chunk_id = t.chunk_id
    OFFSET 0) AS v ON true
ORDER BY t.doc_version_id, t.ordinal;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.measure_chunks FROM PUBLIC, mnemon_app;
