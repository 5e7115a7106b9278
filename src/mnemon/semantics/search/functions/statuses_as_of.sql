-- What became of these events as of then.
CREATE OR REPLACE FUNCTION mnemon.statuses_as_of(events text[], as_of timestamptz, known_at timestamptz)
    RETURNS TABLE (event_id text, status text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT e.event_id,
                CASE %s WHEN ''fulfils'' THEN ''done'' WHEN ''supersedes'' THEN ''superseded'' ELSE ''open'' END
           FROM semantic_events e WHERE e.tenant_id = $1 AND e.event_id = ANY ($2) AND may_read(e.readers)',
        event_had_ended(as_of, known_at))
    USING current_tenant(), events;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.statuses_as_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.statuses_as_of TO mnemon_app;
