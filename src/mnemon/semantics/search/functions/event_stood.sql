-- The condition that an event stood: as of a time on the event's clock, a time on ours, or both.
CREATE OR REPLACE FUNCTION mnemon.event_stood(event text, as_of timestamptz, known_at timestamptz) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = mnemon, pg_temp AS $$
    SELECT CASE WHEN as_of IS NULL THEN event_was_served(event, known_at)
                ELSE format('(%s OR %s)', event_was_served(event, known_at),
                             event_was_replaced(event, as_of, known_at)) END
$$;
REVOKE EXECUTE ON FUNCTION mnemon.event_stood FROM PUBLIC;
