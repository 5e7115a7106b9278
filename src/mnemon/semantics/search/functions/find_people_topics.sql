-- The busiest pairs of a person and a subject, with the number of all pairs. They are counted first; what else is told
-- of a pair is gathered for those that are shown, by their keys.
CREATE OR REPLACE FUNCTION mnemon.find_people_topics(wanted jsonb)
    RETURNS TABLE (person text, topic text, events bigint, total bigint, roles text[], categories text[],
                   first_at timestamptz, last_at timestamptz, event_ids text[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET work_mem = '64MB' AS $$
DECLARE
    tenant uuid := current_tenant();
    keys   bigint[] := ARRAY(SELECT term_key(tenant, 'actor ' || lower(wanted ->> 'person')) WHERE wanted ? 'person')
                    || ARRAY(SELECT term_key(tenant, lexeme)
                               FROM unnest(words_to_find(wanted ->> 'topic')) AS lexeme);
    source text := 'SELECT one ->> ''ref'' AS person, one ->> ''role'' AS role, e.subject_ref AS topic, e.category,
                           e.happened_at, e.event_id
                      FROM semantic_events e, jsonb_array_elements(e.actors) AS one
                     WHERE e.tenant_id = $1 AND e.active AND may_read(e.readers)'
                || has_keys('event_search_keys(e.tenant_id, e.lookup, e.category, e.status)', keys, '{}');
BEGIN
    IF wanted ? 'person' THEN
        source := source || format(' AND is_named(one ->> ''ref'', %L)', wanted ->> 'person');
    END IF;
    RETURN QUERY EXECUTE format(
        'SELECT b.person, b.topic, b.events, b.total, more.*
           FROM (SELECT i.person, i.topic, count(*) AS events, count(*) OVER () AS total, max(i.happened_at) AS last_at
                   FROM (%1$s) AS i GROUP BY 1, 2 ORDER BY 3 DESC, 5 DESC, 1, 2 LIMIT $2 OFFSET $3) AS b,
                LATERAL (SELECT array_agg(DISTINCT m.role ORDER BY m.role),
                                array_agg(DISTINCT m.category ORDER BY m.category),
                                min(m.happened_at), max(m.happened_at),
                                (array_agg(m.event_id ORDER BY m.happened_at DESC, m.event_id))[1:5]
                           FROM (%1$s AND one ->> ''ref'' = b.person AND e.subject_ref = b.topic
                                   AND event_search_keys(e.tenant_id, e.lookup, e.category, e.status)
                                       @> pair_keys($1, b.person, b.topic)
                                ) AS m) AS more
          ORDER BY b.events DESC, b.last_at DESC, b.person, b.topic', source)
    USING tenant, (wanted ->> 'limit')::integer, coalesce((wanted ->> 'offset')::integer, 0);
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.find_people_topics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.find_people_topics TO mnemon_app;
