-- The condition that an event `e` had this status as of a time on its clock, a time on ours, or both.
CREATE OR REPLACE FUNCTION mnemon.event_had_status(status text, as_of timestamptz, known_at timestamptz) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = mnemon, pg_temp AS $$
    SELECT event_had_ended(as_of, known_at)
        || CASE status WHEN 'done' THEN ' = ''fulfils''' WHEN 'superseded' THEN ' = ''supersedes''' ELSE ' IS NULL' END
$$;
REVOKE EXECUTE ON FUNCTION mnemon.event_had_status FROM PUBLIC;
