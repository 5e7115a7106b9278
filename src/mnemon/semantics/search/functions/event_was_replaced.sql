-- The condition that the revision of an event stood at a time on the event's clock and was replaced since: it is the
-- first of those that were replaced later, and its document is still served. `known_at`: as it was known then.
CREATE OR REPLACE FUNCTION mnemon.event_was_replaced(event text, as_of timestamptz, known_at timestamptz) RETURNS text
    LANGUAGE sql IMMUTABLE AS $$
    SELECT format(
        '%1$s.replaced_at > %2$L::timestamptz%3$s
         AND EXISTS (SELECT FROM document_revisions serving
                      WHERE serving.tenant_id = %1$s.tenant_id AND serving.doc_id = %1$s.doc_id AND %4$s OFFSET 0)
         AND NOT EXISTS (SELECT FROM document_revisions sooner
                          WHERE sooner.tenant_id = %1$s.tenant_id AND sooner.doc_id = %1$s.doc_id
                            AND sooner.replaced_at > %2$L::timestamptz
                            AND sooner.replaced_at < %1$s.replaced_at OFFSET 0)',
        event, as_of,
        CASE WHEN known_at IS NOT NULL
        THEN format(' AND %1$s.known_since <= %2$L::timestamptz AND %1$s.known_until <= %2$L::timestamptz',
                    event, known_at) END,
        CASE WHEN known_at IS NULL THEN 'serving.is_active'
        ELSE format('serving.served @> %L::timestamptz', known_at) END)
$$;
REVOKE EXECUTE ON FUNCTION mnemon.event_was_replaced FROM PUBLIC;
