-- The documents that may have these letters in their title, a tag or a file's name, each once, at most twice `most` of
-- them. It runs as the owner: row-level security would keep the application role from using the indexes of letters.
-- Whoever asks looks at the names themselves: all threes of letters may stand in one that does not have the words.
CREATE OR REPLACE FUNCTION mnemon.documents_named(words text, most integer) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    tenant uuid := current_tenant();
    keys   bigint[] := letter_keys(tenant, words, '{}');
BEGIN
    RETURN QUERY
        (SELECT d.doc_id FROM documents d
          WHERE d.tenant_id = tenant AND letter_keys(d.tenant_id, d.title, d.tags) @> keys AND may_read(d.readers)
          LIMIT most)
        UNION
        (SELECT r.doc_id FROM document_revisions r
          WHERE r.tenant_id = tenant AND letter_keys(r.tenant_id, r.original_filename, '{}') @> keys
            AND may_read(r.readers)
          LIMIT most);
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.documents_named FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.documents_named TO mnemon_app;
