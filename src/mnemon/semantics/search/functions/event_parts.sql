-- The sets of events that are searched, no event in two of them, each with an index that has its events by time.
CREATE OR REPLACE FUNCTION mnemon.event_parts(wanted jsonb) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE SET search_path = mnemon, pg_temp AS $$
DECLARE
    past     boolean := coalesce((wanted ->> 'past')::boolean, false);
    as_of    timestamptz := wanted ->> 'as_of';
    known_at timestamptz := wanted ->> 'known_at';
    parts    text[] := ARRAY[' AND e.active'];
BEGIN
    IF past THEN
        parts := parts || ' AND NOT e.active'::text;
    ELSIF known_at IS NOT NULL THEN
        parts := parts || format(' AND NOT e.active AND e.known_until > %L::timestamptz', known_at);
    END IF;
    IF known_at IS NOT NULL THEN
        -- What was known then mostly lay before then. Little is foretold, and that has an index of its own.
        parts := ARRAY(SELECT format('%s AND e.happened_at <= %L::timestamptz', part, known_at)
                         FROM unnest(parts) AS part)
              || format(' AND e.happened_at > %L::timestamptz AND e.happened_at > e.known_since', known_at);
        parts := ARRAY(SELECT part || ' AND '
                              || CASE WHEN past THEN format('e.known_since <= %L::timestamptz', known_at)
                                                      ELSE event_was_served('e', known_at) END
                         FROM unnest(parts) AS part);
    END IF;
    IF as_of IS NOT NULL AND NOT past THEN
        -- What its document went on to say is told once, in the later words.
        parts := parts || format(
            ' AND %s
              AND NOT EXISTS (SELECT FROM semantic_events still
                               WHERE still.tenant_id = e.tenant_id AND still.doc_id = e.doc_id AND %s
                                 AND still.happened_at <= %L::timestamptz AND still.category = e.category
                                 AND still.narrative = e.narrative OFFSET 0)',
            event_was_replaced('e', as_of, known_at), event_was_served('still', known_at), as_of);
    END IF;
    IF wanted ->> 'status' <> 'open' THEN
        RETURN ARRAY(SELECT part || ' AND e.linked' FROM unnest(parts) AS part);
    ELSIF wanted ? 'due_before' AND cardinality(parts) = 1 THEN
        RETURN event_parts_by_due(wanted ->> 'due_before');
    END IF;
    RETURN parts;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.event_parts FROM PUBLIC;
