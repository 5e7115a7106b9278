-- The events that fit, best or latest first, with their number up to a bound. Whatever is left out is not asked for.
-- With the question's vector, events about the same matter are found too. However many events there are, few are read.
CREATE OR REPLACE FUNCTION mnemon.find_semantic_events(wanted jsonb, question vector, bound integer)
    RETURNS TABLE (event_id text, happened_at timestamptz, score float8, total bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    IF wanted ? 'query' THEN
        RETURN QUERY SELECT * FROM best_events(wanted, question, bound);
    ELSE
        RETURN QUERY SELECT l.event_id, l.happened_at, 0::float8, l.total FROM latest_events(wanted, bound) AS l;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.find_semantic_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.find_semantic_events TO mnemon_app;
