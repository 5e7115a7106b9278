-- The condition that an event comes after the last one of the page before.
CREATE OR REPLACE FUNCTION mnemon.event_after(wanted jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN wanted ? 'after_id' THEN format(
        ' AND (e.happened_at, e.event_id) < (%L::timestamptz, %L)',
        wanted ->> 'after_time', wanted ->> 'after_id') ELSE '' END
$$;
REVOKE EXECUTE ON FUNCTION mnemon.event_after FROM PUBLIC;
