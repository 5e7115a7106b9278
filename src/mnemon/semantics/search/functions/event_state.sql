-- What it must have become, today or by then. To look at links is slow, so what has the right keys is asked for it
-- last.
CREATE OR REPLACE FUNCTION mnemon.event_state(wanted jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = mnemon, pg_temp AS $$
    SELECT CASE WHEN NOT wanted ? 'status' THEN ''
                WHEN wanted ?| ARRAY['as_of', 'known_at'] THEN ' AND ' || event_had_status(
                    wanted ->> 'status', (wanted ->> 'as_of')::timestamptz, (wanted ->> 'known_at')::timestamptz)
                ELSE format(' AND e.status = %L', wanted ->> 'status') END
$$;
REVOKE EXECUTE ON FUNCTION mnemon.event_state FROM PUBLIC;
