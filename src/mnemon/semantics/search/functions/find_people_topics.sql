-- The busiest pairs of a person and a subject, with the number of all pairs, among so many of the latest events that
-- fit: whoever asks without a name would else have a million of them counted. `looked_at` tells how many those were.
-- Plans are made for the values at hand: what is not asked for is not in them.
CREATE OR REPLACE FUNCTION mnemon.find_people_topics(wanted jsonb, counted integer)
    RETURNS TABLE (person text, topic text, events bigint, total bigint, roles text[], categories text[],
                   first_at timestamptz, last_at timestamptz, event_ids text[], looked_at bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET work_mem = '64MB' SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := current_tenant();
    asked  text := wanted ->> 'person';
    keys   bigint[] := ARRAY(SELECT term_key(tenant, 'actor ' || lower(asked)) WHERE asked IS NOT NULL)
                    || ARRAY(SELECT term_key(tenant, lexeme)
                               FROM unnest(words_to_find(wanted ->> 'topic')) AS lexeme);
    most   integer := wanted ->> 'limit';
    skip   integer := coalesce((wanted ->> 'offset')::integer, 0);
BEGIN
    RETURN QUERY
        WITH latest AS MATERIALIZED (
            SELECT e.actors, e.subject_ref, e.category, e.happened_at, e.undated, e.event_id
              FROM semantic_events e
             WHERE e.tenant_id = tenant AND e.active AND e.status <> 'dismissed' AND may_read(e.readers)
               AND (cardinality(keys) = 0
                    OR event_search_keys(e.tenant_id, e.lookup, e.category, e.status) @> keys)
             ORDER BY e.happened_at DESC, e.event_id DESC LIMIT counted),
        involved AS MATERIALIZED (
            SELECT one ->> 'ref' AS person, one ->> 'role' AS role, e.subject_ref AS topic, e.category,
                   e.happened_at, e.undated, e.event_id
              FROM latest e, jsonb_array_elements(e.actors) AS one
             WHERE asked IS NULL OR is_named(one ->> 'ref', asked)),
        busiest AS MATERIALIZED (
            SELECT i.person, i.topic, count(*) AS events, count(*) OVER () AS total, max(i.happened_at) AS last_at
              FROM involved AS i GROUP BY 1, 2 ORDER BY 3 DESC, 5 DESC, 1, 2 LIMIT most OFFSET skip)
        SELECT b.person, b.topic, b.events, b.total, array_agg(DISTINCT m.role ORDER BY m.role),
               array_agg(DISTINCT m.category ORDER BY m.category),
               min(m.happened_at) FILTER (WHERE NOT m.undated), max(m.happened_at) FILTER (WHERE NOT m.undated),
               (array_agg(m.event_id ORDER BY m.happened_at DESC, m.event_id))[1:5], (SELECT count(*) FROM latest)
          FROM busiest AS b JOIN involved AS m ON m.person = b.person AND m.topic = b.topic
         GROUP BY b.person, b.topic, b.events, b.total, b.last_at
         ORDER BY b.events DESC, b.last_at DESC, b.person, b.topic;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.find_people_topics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.find_people_topics TO mnemon_app;
