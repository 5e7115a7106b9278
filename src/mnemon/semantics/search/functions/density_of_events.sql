-- How the events that fit lie in time, those of which no text tells a day left out: counted by category in days,
-- weeks, months, quarters or years, whichever gives a few dozen bars. Only so many of the latest or best are looked
-- at, however many there are: each by its key, in a subquery, since for a join the planner would rather read the
-- whole table.
CREATE OR REPLACE FUNCTION mnemon.density_of_events(wanted jsonb, question vector, most integer)
    RETURNS TABLE (unit text, since timestamptz, category text, events bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    WITH found AS MATERIALIZED (
        SELECT f.happened_at,
               (SELECT e.category FROM semantic_events e
                 WHERE e.tenant_id = current_tenant() AND e.event_id = f.event_id) AS category
          FROM find_semantic_events(
                   wanted || jsonb_build_object('limit', most, 'undated', 'none', 'unscored', true),
                   question, most) AS f),
    reach AS (
        SELECT CASE WHEN days <= 62 THEN 'day' WHEN days <= 430 THEN 'week' WHEN days <= 2000 THEN 'month'
                    WHEN days <= 6000 THEN 'quarter' ELSE 'year' END AS unit
          FROM (SELECT extract(epoch FROM max(happened_at) - min(happened_at)) / 86400 AS days FROM found) AS span)
    SELECT reach.unit, date_trunc(reach.unit, f.happened_at, 'UTC'), f.category, count(*)
      FROM found f, reach
     GROUP BY 1, 2, 3 ORDER BY 2, 3
$$;
REVOKE EXECUTE ON FUNCTION mnemon.density_of_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.density_of_events TO mnemon_app;
