-- What became of these events as of then.
CREATE OR REPLACE FUNCTION mnemon.statuses_as_of(events text[], as_of timestamptz, known_at timestamptz)
    RETURNS TABLE (event_id text, status text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT e.event_id,
           CASE WHEN e.status = 'dismissed' OR e.stood_since <= least(as_of, known_at) THEN e.status
           ELSE CASE (SELECT kind FROM how_it_ended(e.tenant_id, e.event_id, e.readers, as_of, known_at) AS kind)
                       WHEN 'fulfils' THEN 'done' WHEN 'supersedes' THEN 'superseded' ELSE 'open' END END
      FROM semantic_events e
     WHERE e.tenant_id = current_tenant() AND e.event_id = ANY (events) AND may_read(e.readers)
$$;
REVOKE EXECUTE ON FUNCTION mnemon.statuses_as_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.statuses_as_of TO mnemon_app;
