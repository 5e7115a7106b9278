-- Those of the keys whose words stand only in passages that the transaction's reader may not see: to this reader they
-- are words that nobody wrote. It runs as the owner, since row-level security would keep the application role from
-- using the GIN index.
CREATE OR REPLACE FUNCTION mnemon.hidden_terms(keys bigint[]) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp SET enable_seqscan = off AS $$
DECLARE
    tenant uuid := current_tenant();
BEGIN
    IF NOT something_is_hidden() THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT key FROM unnest(keys) AS key
    WHERE NOT EXISTS (
        SELECT FROM chunk_terms
        WHERE tenant_id = tenant AND active AND term_keys(tenant_id, terms) @> ARRAY[key]
          AND NOT is_hidden(doc_version_id));
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.hidden_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.hidden_terms TO mnemon_app;
