-- The latest events that fit, after the place that `wanted` names. Who is named often is named lately: then a walk back
-- from the latest event has the page, and the index of keys, which would list all that ever named them, is not asked.
-- Plans are made for the values at hand, part by part.
CREATE OR REPLACE FUNCTION mnemon.latest_events(wanted jsonb, bound integer)
    RETURNS TABLE (event_id text, happened_at timestamptz, total bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET work_mem = '16MB' SET plan_cache_mode = force_custom_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET max_parallel_workers_per_gather = 0 AS $$
#variable_conflict use_column
DECLARE
    tenant     uuid := current_tenant();
    parts      text[] := event_parts(wanted);
    part       text;
    as_of      timestamptz := wanted ->> 'as_of';
    known_at   timestamptz := wanted ->> 'known_at';
    after_time timestamptz := wanted ->> 'after_time';
    after_id   text := wanted ->> 'after_id';
    -- Whether links tell what an event had become by then; what it is today stands with it.
    by_links   boolean := wanted ? 'status' AND num_nonnulls(as_of, known_at) > 0;
    must       record := event_must_have(wanted);
    named      bigint[] := must.named;
    keys       bigint[] := must.named || must.being;
    keyed      boolean := cardinality(must.named) > 0;
    most       integer := wanted ->> 'limit';
    -- The first page is cut from what is counted, but where conditions on the past make it dear to walk that far.
    whole      boolean := after_id IS NULL AND parts <@ ARRAY['today', 'past'] AND num_nonnulls(as_of, known_at) = 0;
    reach      integer := CASE WHEN whole THEN greatest(bound, most) ELSE most END;
    walked     boolean := false;
    ids        text[] := '{}';
    times      timestamptz[] := '{}';
    found      record;
    counted    bigint := 0;
BEGIN
    IF keyed AND cardinality(parts) = 1 THEN
        part := parts[1];
        SELECT coalesce(array_agg(w.event_id), '{}'), coalesce(array_agg(w.happened_at), '{}') INTO ids, times
          FROM (SELECT e.event_id, e.happened_at
                  FROM (SELECT e.event_id, e.happened_at, e.lookup
                          FROM events_that_fit(tenant, wanted, part, as_of, known_at, false) AS e
                         WHERE (after_id IS NULL OR (e.happened_at, e.event_id) < (after_time, after_id))
                         ORDER BY e.happened_at DESC, e.event_id DESC LIMIT 3000) AS e
                 WHERE e.lookup @> named AND (NOT by_links OR EXISTS (
                       SELECT FROM events_that_fit(tenant, wanted, part, as_of, known_at, true) AS f
                        WHERE f.event_id = e.event_id OFFSET 0)) LIMIT most) AS w;
        walked := cardinality(ids) >= most;
    END IF;
    IF NOT walked THEN
        ids := '{}';
        times := '{}';
        FOREACH part IN ARRAY parts LOOP
            IF keyed THEN
                -- The keys are asked before the order, or else the walk by time would look at everyone's events.
                SELECT array_agg(p.event_id) AS ids, array_agg(p.happened_at) AS times INTO found
                  FROM (SELECT e.event_id, e.happened_at
                          FROM (SELECT e.event_id, e.happened_at
                                  FROM events_that_fit(tenant, wanted, part, as_of, known_at, true) AS e
                                 WHERE event_search_keys(e.tenant_id, e.lookup, e.category, e.status) @> keys
                                   AND (after_id IS NULL OR (e.happened_at, e.event_id) < (after_time, after_id))
                                OFFSET 0) AS e
                         ORDER BY e.happened_at DESC, e.event_id DESC LIMIT reach) AS p;
            ELSE
                SELECT array_agg(p.event_id) AS ids, array_agg(p.happened_at) AS times INTO found
                  FROM (SELECT e.event_id, e.happened_at
                          FROM events_that_fit(tenant, wanted, part, as_of, known_at, true) AS e
                         WHERE (after_id IS NULL OR (e.happened_at, e.event_id) < (after_time, after_id))
                         ORDER BY e.happened_at DESC, e.event_id DESC LIMIT reach) AS p;
            END IF;
            ids := ids || coalesce(found.ids, '{}');
            times := times || coalesce(found.times, '{}');
        END LOOP;
    END IF;
    IF whole AND NOT walked THEN
        RETURN QUERY SELECT one.event_id, one.happened_at, least(cardinality(ids), bound)::bigint
                       FROM unnest(ids, times) AS one (event_id, happened_at)
                      ORDER BY one.happened_at DESC, one.event_id DESC LIMIT most;
        RETURN;
    END IF;
    FOREACH part IN ARRAY parts LOOP
        SELECT counted + count(*) INTO counted
          FROM (SELECT FROM events_that_fit(tenant, wanted, part, as_of, known_at, true) AS e
                 WHERE NOT keyed OR event_search_keys(e.tenant_id, e.lookup, e.category, e.status) @> keys
                 LIMIT bound) AS bounded;
        EXIT WHEN counted >= bound;
    END LOOP;
    RETURN QUERY SELECT one.event_id, one.happened_at, least(counted, bound)
                   FROM unnest(ids, times) AS one (event_id, happened_at)
                  ORDER BY one.happened_at DESC, one.event_id DESC LIMIT most;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.latest_events FROM PUBLIC;
