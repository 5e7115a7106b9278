-- The condition that the revision of an event was served: today, or at a time on our clock.
CREATE OR REPLACE FUNCTION mnemon.event_was_served(event text, known_at timestamptz) RETURNS text
    LANGUAGE sql IMMUTABLE AS $$
    -- OFFSET 0 keeps it a lookup of the one revision.
    SELECT CASE WHEN known_at IS NULL THEN event || '.active' ELSE format(
        '%1$s.known_since <= %2$L::timestamptz
         AND EXISTS (SELECT FROM document_revisions own
                      WHERE own.tenant_id = %1$s.tenant_id AND own.doc_version_id = %1$s.doc_version_id
                        AND own.served @> %2$L::timestamptz OFFSET 0)', event, known_at) END
$$;
REVOKE EXECUTE ON FUNCTION mnemon.event_was_served FROM PUBLIC;
