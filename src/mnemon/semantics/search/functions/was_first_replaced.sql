-- Whether a revision that was replaced at a time is the first of its document's that were replaced after `as_of`, so
-- that it stood then, and the document is still served. `known_at`: as it was known then.
CREATE OR REPLACE FUNCTION mnemon.was_first_replaced(
    tenant uuid, document uuid, replaced timestamptz, as_of timestamptz, known_at timestamptz)
    RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM mnemon.document_revisions serving
                    WHERE serving.tenant_id = tenant AND serving.doc_id = document
                      AND CASE WHEN known_at IS NULL THEN serving.is_active ELSE serving.served @> known_at END)
       AND NOT EXISTS (SELECT FROM mnemon.document_revisions sooner
                        WHERE sooner.tenant_id = tenant AND sooner.doc_id = document
                          AND sooner.replaced_at > as_of AND sooner.replaced_at < replaced)
$$;
REVOKE EXECUTE ON FUNCTION mnemon.was_first_replaced FROM PUBLIC;
