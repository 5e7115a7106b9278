-- Views over semantic events that read few of them: open commitments by their due date, and who was involved in what.

-- Those with a date first, the most urgent first, as the view lists them.
CREATE INDEX semantic_events_due ON mnemon.semantic_events (tenant_id, due, happened_at, event_id)
    WHERE active AND category = 'Commitment' AND status = 'open';

-- Whether a name is asked for, whole or by one of its words.
CREATE FUNCTION mnemon.is_named(name text, asked text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN lower(asked) = lower(name) OR lower(asked) = ANY (regexp_split_to_array(lower(name), '\s+'));

-- The keys of what somebody has to do with a subject.
CREATE FUNCTION mnemon.pair_keys(tenant uuid, person text, topic text) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN mnemon.term_key(tenant, 'actor ' || lower(person))
        || ARRAY(SELECT mnemon.term_key(tenant, 'subject ' || lexeme)
                   FROM unnest(tsvector_to_array(to_tsvector('english', topic))) AS lexeme);

-- The open commitments after the place that `wanted` names, with their number up to a bound. A name or a part of it finds
-- the owner; the index of keys knows everyone who is named, so that only the role is left to look at.
CREATE FUNCTION mnemon.find_open_commitments(wanted jsonb, bound integer)
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
            ' AND event_keys(e.tenant_id, e.lookup, e.category, e.status) @> %L::bigint[]
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
        'SELECT c.event_id, c.due, c.happened_at, (SELECT count(*) FROM (SELECT FROM (%1$s) AS each LIMIT $2) AS bounded)
           FROM (%1$s) AS c%2$s ORDER BY c.due, c.happened_at, c.event_id LIMIT $3', source, after)
    USING tenant, bound, (wanted ->> 'limit')::integer;
END $$;

-- The busiest pairs of a person and a subject, with the number of all pairs. They are counted first; what else is told
-- of a pair is gathered for those that are shown, by their keys.
CREATE FUNCTION mnemon.find_people_topics(wanted jsonb)
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
                || has_keys('event_keys(e.tenant_id, e.lookup, e.category, e.status)', keys, '{}');
BEGIN
    IF wanted ? 'person' THEN
        source := source || format(' AND is_named(one ->> ''ref'', %L)', wanted ->> 'person');
    END IF;
    RETURN QUERY EXECUTE format(
        'SELECT b.person, b.topic, b.events, b.total, more.*
           FROM (SELECT i.person, i.topic, count(*) AS events, count(*) OVER () AS total, max(i.happened_at) AS last_at
                   FROM (%1$s) AS i GROUP BY 1, 2 ORDER BY 3 DESC, 5 DESC, 1, 2 LIMIT $2 OFFSET $3) AS b,
                LATERAL (SELECT array_agg(DISTINCT m.role ORDER BY m.role), array_agg(DISTINCT m.category ORDER BY m.category),
                                min(m.happened_at), max(m.happened_at),
                                (array_agg(m.event_id ORDER BY m.happened_at DESC, m.event_id))[1:5]
                           FROM (%1$s AND one ->> ''ref'' = b.person AND e.subject_ref = b.topic
                                   AND event_keys(e.tenant_id, e.lookup, e.category, e.status) @> pair_keys($1, b.person, b.topic)
                                ) AS m) AS more
          ORDER BY b.events DESC, b.last_at DESC, b.person, b.topic', source)
    USING tenant, (wanted ->> 'limit')::integer, coalesce((wanted ->> 'offset')::integer, 0);
END $$;

DO $$
DECLARE
    callable regprocedure;
BEGIN
    FOREACH callable IN ARRAY ARRAY['mnemon.find_open_commitments(jsonb, integer)', 'mnemon.find_people_topics(jsonb)']::regprocedure[]
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', callable);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO mnemon_app', callable);
    END LOOP;
END $$;
