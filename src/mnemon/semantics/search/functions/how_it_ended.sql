-- How an event had ended: the kind of the link from the first later event that stood then, or nothing. A link tells a
-- reader of one event that there is the other, so it counts only where all those may read that one too.
CREATE OR REPLACE FUNCTION mnemon.how_it_ended(
    tenant uuid, event text, event_readers text[], as_of timestamptz, known_at timestamptz)
    RETURNS SETOF text LANGUAGE sql STABLE BEGIN ATOMIC
    SELECT l.kind FROM mnemon.event_links l
      JOIN mnemon.semantic_events later ON later.tenant_id = l.tenant_id AND later.event_id = l.later
     WHERE l.tenant_id = tenant AND l.earlier = event AND NOT l.dismissed AND NOT l.suggested
       AND l.kind <> 'depends_on'
       AND later.stood IS DISTINCT FROM 'dismissed' AND (as_of IS NULL OR later.happened_at <= as_of)
       AND mnemon.link_tells(event_readers, later.readers)
       AND (CASE WHEN known_at IS NULL THEN later.active
                 ELSE later.known_since <= known_at AND EXISTS (
                     SELECT FROM mnemon.document_revisions own
                      WHERE own.tenant_id = later.tenant_id AND own.doc_version_id = later.doc_version_id
                        AND own.served @> known_at OFFSET 0) END
            OR as_of IS NOT NULL AND later.replaced_at > as_of
               AND (known_at IS NULL OR later.known_since <= known_at AND later.known_until <= known_at)
               AND mnemon.was_first_replaced(later.tenant_id, later.doc_id, later.replaced_at, as_of, known_at))
     ORDER BY l.by_person DESC, later.happened_at, later.event_id, l.kind LIMIT 1;
END;
REVOKE EXECUTE ON FUNCTION mnemon.how_it_ended FROM PUBLIC;
