-- The documents that may have these letters in a title or a tag, at most so many of them, the newest of all if asked;
-- and, not `by_title`, as many that may have them in the name of a file. It runs as the owner: row-level security would
-- keep the application role from using the indexes of letters. Whoever asks looks at the names themselves: all letters
-- by twos and threes may stand in one that does not have the words.
CREATE OR REPLACE FUNCTION mnemon.documents_named(words text, most integer, newest boolean)
    RETURNS TABLE (doc_id uuid, by_title boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := current_tenant();
    size   integer := least(3, length(words));
    keys   bigint[] := ARRAY(
        SELECT term_key(tenant, 'name ' || substr(lower(words), place, size))
          FROM generate_series(1, length(words) - size + 1) AS place);
BEGIN
    IF newest THEN
        -- The keys are asked before the order, or else the walk by age would look at every name.
        RETURN QUERY
            SELECT d.doc_id, true
              FROM (SELECT d.doc_id, d.created_at FROM document_titles t
                      JOIN documents d ON d.tenant_id = tenant AND hashtextextended(d.title, 0) = t.title_key
                     WHERE t.tenant_id = tenant AND letter_keys(t.tenant_id, t.title, '{}') @> keys
                       AND may_read(d.readers)
                    UNION
                    SELECT d.doc_id, d.created_at FROM documents d
                     WHERE d.tenant_id = tenant AND d.tags <> '{}' AND letter_keys(d.tenant_id, '', d.tags) @> keys
                       AND may_read(d.readers) OFFSET 0) AS d
             ORDER BY d.created_at DESC, d.doc_id LIMIT most;
    ELSE
        RETURN QUERY
            SELECT d.doc_id, true
              FROM ((SELECT d.doc_id FROM document_titles t
                       JOIN documents d ON d.tenant_id = tenant AND hashtextextended(d.title, 0) = t.title_key
                      WHERE t.tenant_id = tenant AND letter_keys(t.tenant_id, t.title, '{}') @> keys
                        AND may_read(d.readers) LIMIT most)
                    UNION
                    (SELECT d.doc_id FROM documents d
                      WHERE d.tenant_id = tenant AND d.tags <> '{}' AND letter_keys(d.tenant_id, '', d.tags) @> keys
                        AND may_read(d.readers) LIMIT most)) AS d
             LIMIT most;
    END IF;
    RETURN QUERY
        SELECT r.doc_id, false FROM document_revisions r
         WHERE r.tenant_id = tenant AND r.original_filename <> ''
           AND letter_keys(r.tenant_id, r.original_filename, '{}') @> keys AND may_read(r.readers)
         LIMIT most;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.documents_named FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.documents_named TO mnemon_app;
