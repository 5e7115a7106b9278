-- The parts in which something was due by a day. Promises are made before they are due; those that say otherwise have
-- an index of their own.
CREATE OR REPLACE FUNCTION mnemon.event_parts_by_due(due_before text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY[
        format(' AND e.active AND e.happened_at < %s', moment),
        format(' AND e.active AND e.happened_at >= %s AND e.event_id = ANY (ARRAY(
                     SELECT late.event_id FROM semantic_events late
                      WHERE late.tenant_id = $1 AND late.active AND late.due < %L::date
                        AND late.due < (late.happened_at AT TIME ZONE ''UTC'')::date
                      ORDER BY late.happened_at DESC, late.event_id DESC LIMIT 1000))', moment, due_before)]
      FROM format('((%L::date + 1)::timestamp AT TIME ZONE ''UTC'')', due_before) AS moment
$$;
REVOKE EXECUTE ON FUNCTION mnemon.event_parts_by_due FROM PUBLIC;
