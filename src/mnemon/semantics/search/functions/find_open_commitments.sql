-- The open commitments after the place that `wanted` names, with their number up to a bound. A name or a part of it
-- finds the owner; the index of keys knows everyone who is named, so that only the role is left to look at.
CREATE OR REPLACE FUNCTION mnemon.find_open_commitments(wanted jsonb, bound integer)
    RETURNS TABLE (event_id text, due date, happened_at timestamptz, total bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET enable_seqscan = off SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
    tenant uuid := current_tenant();
    -- The keys are asked before the order, or else the walk by date would look at everyone's promises.
    source text := 'SELECT e.event_id, e.due, e.happened_at FROM semantic_events e
                     WHERE e.tenant_id = $1 AND e.active AND e.category = ''Commitment'' AND e.status = ''open''
                       AND may_read(e.readers)';
    after  text := '';
BEGIN
    IF wanted ? 'due_before' THEN
        source := source || format(' AND e.due < %L::date', wanted ->> 'due_before');
    END IF;
    IF wanted ? 'owner' THEN
        source := source || format(
            ' AND event_search_keys(e.tenant_id, e.lookup, e.category, e.status) @> %L::bigint[]
              AND EXISTS (SELECT FROM jsonb_array_elements(e.actors) AS one
                           WHERE one ->> ''role'' = ''owner'' AND is_named(one ->> ''ref'', %L)) OFFSET 0',
            ARRAY[term_key(tenant, 'actor ' || lower(wanted ->> 'owner')), term_key(tenant, 'category Commitment'),
                  term_key(tenant, 'status open')], wanted ->> 'owner');
    END IF;
    IF wanted ? 'after_id' THEN
        after := CASE WHEN wanted ->> 'after_due' IS NULL
            THEN format(' WHERE c.due IS NULL AND (c.happened_at, c.event_id) > (%L::timestamptz, %L)',
                        wanted ->> 'after_time', wanted ->> 'after_id')
            ELSE format(' WHERE c.due IS NULL OR (c.due, c.happened_at, c.event_id) > (%L::date, %L::timestamptz, %L)',
                        wanted ->> 'after_due', wanted ->> 'after_time', wanted ->> 'after_id') END;
    END IF;
    RETURN QUERY EXECUTE format(
        'SELECT c.event_id, c.due, c.happened_at,
                (SELECT count(*) FROM (SELECT FROM (%1$s) AS each LIMIT $2) AS bounded)
           FROM (%1$s) AS c%2$s ORDER BY c.due, c.happened_at, c.event_id LIMIT $3', source, after)
    USING tenant, bound, (wanted ->> 'limit')::integer;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.find_open_commitments FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.find_open_commitments TO mnemon_app;
