-- How `e` had ended by then: the kind of the link from the first later event that stood, or NULL.
CREATE OR REPLACE FUNCTION mnemon.event_had_ended(as_of timestamptz, known_at timestamptz) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = mnemon, pg_temp AS $$
    SELECT format(
        '(SELECT l.kind FROM event_links l
            JOIN semantic_events later ON later.tenant_id = l.tenant_id AND later.event_id = l.later
           WHERE l.tenant_id = e.tenant_id AND l.earlier = e.event_id%s
             AND link_tells(e.readers, later.readers) AND %s
           ORDER BY later.happened_at, later.event_id, l.kind LIMIT 1)',
        ' AND later.happened_at <= ' || quote_literal(as_of) || '::timestamptz', event_stood('later', as_of, known_at))
$$;
REVOKE EXECUTE ON FUNCTION mnemon.event_had_ended FROM PUBLIC;
