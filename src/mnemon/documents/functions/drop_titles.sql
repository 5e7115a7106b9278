-- Those of these titles that no document has any more. Whoever brings one of them now is waited for, and seen by the
-- second statement: it looks at the documents as they are then.
CREATE OR REPLACE FUNCTION mnemon.drop_titles(tenant uuid, keys bigint[]) RETURNS void
    LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM FROM mnemon.document_titles t
      WHERE t.tenant_id = tenant AND t.title_key = ANY (keys) ORDER BY t.title_key FOR UPDATE;
    DELETE FROM mnemon.document_titles t
     WHERE t.tenant_id = tenant AND t.title_key = ANY (keys)
       AND NOT EXISTS (SELECT FROM mnemon.documents d
                        WHERE d.tenant_id = tenant AND hashtextextended(d.title, 0) = t.title_key);
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.drop_titles FROM PUBLIC;
