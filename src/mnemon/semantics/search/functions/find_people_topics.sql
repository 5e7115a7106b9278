-- The busiest pairs of a person and a subject, with the number of all pairs. They are counted first; what else is told
-- of a pair is gathered for those that are shown, by their keys.
-- Plans are made for the values at hand: what is not asked for is not in them.
CREATE OR REPLACE FUNCTION mnemon.find_people_topics(wanted jsonb)
    RETURNS TABLE (person text, topic text, events bigint, total bigint, roles text[], categories text[],
                   first_at timestamptz, last_at timestamptz, event_ids text[])
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
        WITH involved AS NOT MATERIALIZED (
            SELECT one ->> 'ref' AS person, one ->> 'role' AS role, e.subject_ref AS topic, e.category,
                   e.happened_at, e.event_id, e.tenant_id, e.lookup, e.status, e.undated
              FROM semantic_events e, jsonb_array_elements(e.actors) AS one
             WHERE e.tenant_id = tenant AND e.active AND e.status <> 'dismissed' AND may_read(e.readers)
               AND (cardinality(keys) = 0
                    OR event_search_keys(e.tenant_id, e.lookup, e.category, e.status) @> keys)
               AND (asked IS NULL OR is_named(one ->> 'ref', asked)))
        SELECT b.person, b.topic, b.events, b.total, more.*
          FROM (SELECT i.person, i.topic, count(*) AS events, count(*) OVER () AS total, max(i.happened_at) AS last_at
                  FROM involved AS i GROUP BY 1, 2 ORDER BY 3 DESC, 5 DESC, 1, 2 LIMIT most OFFSET skip) AS b,
               LATERAL (SELECT array_agg(DISTINCT m.role ORDER BY m.role),
                               array_agg(DISTINCT m.category ORDER BY m.category),
                               min(m.happened_at) FILTER (WHERE NOT m.undated),
                               max(m.happened_at) FILTER (WHERE NOT m.undated),
                               (array_agg(m.event_id ORDER BY m.happened_at DESC, m.event_id))[1:5]
                          FROM involved AS m
                         WHERE m.person = b.person AND m.topic = b.topic
                           AND event_search_keys(m.tenant_id, m.lookup, m.category, m.status)
                               @> pair_keys(tenant, b.person, b.topic)) AS more
         ORDER BY b.events DESC, b.last_at DESC, b.person, b.topic;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.find_people_topics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.find_people_topics TO mnemon_app;
