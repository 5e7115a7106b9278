-- The open commitments after the place that `wanted` names, with their number up to a bound. A name or a part of it
-- finds the owner; the index of keys knows everyone who is named, so that only the role is left to look at.
-- What is less likely right than wrong is a suggestion and no commitment.
-- Plans are made for the values at hand: what is not asked for is not in them.
CREATE OR REPLACE FUNCTION mnemon.find_open_commitments(wanted jsonb, bound integer)
    RETURNS TABLE (event_id text, due date, happened_at timestamptz, total bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET plan_cache_mode = force_custom_plan
    SET enable_seqscan = off SET max_parallel_workers_per_gather = 0 AS $$
#variable_conflict use_column
DECLARE
    tenant     uuid := current_tenant();
    due_before date := wanted ->> 'due_before';
    due_from   date := wanted ->> 'due_from';
    owner      text := wanted ->> 'owner';
    owned      bigint[] := ARRAY[term_key(tenant, 'actor ' || lower(owner)), term_key(tenant, 'category Commitment'),
                                 term_key(tenant, 'status open')];
    after_due  date := wanted ->> 'after_due';
    after_time timestamptz := wanted ->> 'after_time';
    after_id   text := wanted ->> 'after_id';
    most       integer := wanted ->> 'limit';
BEGIN
    IF owner IS NULL THEN
        RETURN QUERY
            WITH open AS NOT MATERIALIZED (
                SELECT e.event_id, e.due, e.happened_at FROM semantic_events e
                 WHERE e.tenant_id = tenant AND e.active AND e.category = 'Commitment' AND e.status = 'open'
                   AND e.confidence >= 0.5 AND may_read(e.readers) AND (due_before IS NULL OR e.due < due_before)
                   AND (due_from IS NULL OR e.due >= due_from))
            SELECT c.event_id, c.due, c.happened_at,
                   (SELECT count(*) FROM (SELECT FROM open LIMIT bound) AS bounded)
              FROM open AS c
             WHERE after_id IS NULL
                OR c.due IS NULL AND (after_due IS NOT NULL OR (c.happened_at, c.event_id) > (after_time, after_id))
                OR after_due IS NOT NULL AND (c.due, c.happened_at, c.event_id) > (after_due, after_time, after_id)
             ORDER BY c.due, c.happened_at, c.event_id LIMIT most;
        RETURN;
    END IF;
    RETURN QUERY
        -- The keys are asked before the order, or else the walk by date would look at everyone's promises.
        WITH open AS MATERIALIZED (
            SELECT e.event_id, e.due, e.happened_at FROM semantic_events e
             WHERE e.tenant_id = tenant AND e.active AND e.category = 'Commitment' AND e.status = 'open'
               AND e.confidence >= 0.5 AND may_read(e.readers) AND (due_before IS NULL OR e.due < due_before)
               AND (due_from IS NULL OR e.due >= due_from)
               AND event_search_keys(e.tenant_id, e.lookup, e.category, e.status) @> owned
               AND EXISTS (SELECT FROM jsonb_array_elements(e.actors) AS one
                            WHERE one ->> 'role' = 'owner' AND is_named(one ->> 'ref', owner)))
        SELECT c.event_id, c.due, c.happened_at,
               (SELECT count(*) FROM (SELECT FROM open LIMIT bound) AS bounded)
          FROM open AS c
         WHERE after_id IS NULL
            OR c.due IS NULL AND (after_due IS NOT NULL OR (c.happened_at, c.event_id) > (after_time, after_id))
            OR after_due IS NOT NULL AND (c.due, c.happened_at, c.event_id) > (after_due, after_time, after_id)
         ORDER BY c.due, c.happened_at, c.event_id LIMIT most;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.find_open_commitments FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.find_open_commitments TO mnemon_app;
