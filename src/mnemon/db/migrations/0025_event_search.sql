-- Searches among semantic events, made of small pieces: which events stood and were known at a time, which keys they are
-- found by, and one statement that lists them by time or ranks them by words. All of them say their conditions about `e`.

-- The keys of an event, with those of what it is today: a word within a category is one look into one index.
CREATE FUNCTION mnemon.event_keys(tenant_id uuid, lookup bigint[], category text, status text) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 100
    RETURN lookup || ARRAY[mnemon.term_key(tenant_id, 'category ' || category), mnemon.term_key(tenant_id, 'status ' || status)];

DROP INDEX mnemon.semantic_events_today;
DROP INDEX mnemon.semantic_events_past;
CREATE INDEX semantic_events_today ON mnemon.semantic_events
    USING gin (mnemon.event_keys(tenant_id, lookup, category, status)) WITH (fastupdate = off) WHERE active;
CREATE INDEX semantic_events_past ON mnemon.semantic_events
    USING gin (mnemon.event_keys(tenant_id, lookup, category, status)) WITH (fastupdate = off) WHERE NOT active;

-- A link tells a reader of one event that there is the other: it counts only where all those may read that one too.
CREATE FUNCTION mnemon.link_tells(earlier_readers text[], later_readers text[]) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN later_readers IS NULL OR coalesce(earlier_readers <@ later_readers, false);

-- Whether some event is said to have ended it, be that served today or not. What had ended at any time is among these.
-- What became of them is told anew, by what came first and by links that tell nobody of what they may not read.
ALTER TABLE mnemon.semantic_events ADD COLUMN linked boolean NOT NULL DEFAULT false;
UPDATE mnemon.semantic_events e SET linked = true, status = coalesce((
        SELECT CASE l.kind WHEN 'fulfils' THEN 'done' ELSE 'superseded' END
          FROM mnemon.event_links l JOIN mnemon.semantic_events later USING (tenant_id)
         WHERE l.tenant_id = e.tenant_id AND l.earlier = e.event_id
           AND later.event_id = l.later AND later.active AND mnemon.link_tells(e.readers, later.readers)
         ORDER BY later.happened_at, later.event_id, l.kind LIMIT 1), 'open')
 WHERE EXISTS (SELECT FROM mnemon.event_links l WHERE l.tenant_id = e.tenant_id AND l.earlier = e.event_id);
DROP INDEX mnemon.semantic_events_ended;
CREATE INDEX semantic_events_linked ON mnemon.semantic_events (tenant_id, active, happened_at DESC, event_id DESC) WHERE linked;

-- The condition that the revision of an event was served: today, or at a time on our clock.
CREATE FUNCTION mnemon.event_was_served(event text, known_at timestamptz) RETURNS text
    LANGUAGE sql IMMUTABLE AS $$
    -- OFFSET 0 keeps it a lookup of the one revision.
    SELECT CASE WHEN known_at IS NULL THEN event || '.active' ELSE format(
        '%1$s.known_since <= %2$L::timestamptz
         AND EXISTS (SELECT FROM artifact_revisions own
                      WHERE own.tenant_id = %1$s.tenant_id AND own.doc_version_id = %1$s.doc_version_id
                        AND own.served @> %2$L::timestamptz OFFSET 0)', event, known_at) END
$$;

-- The condition that the revision of an event stood at a time on the event's clock and was replaced since: it is the
-- first of those that were replaced later, and its document is still served. `known_at`: as it was known then.
CREATE FUNCTION mnemon.event_was_replaced(event text, as_of timestamptz, known_at timestamptz) RETURNS text
    LANGUAGE sql IMMUTABLE AS $$
    SELECT format(
        '%1$s.replaced_at > %2$L::timestamptz%3$s
         AND EXISTS (SELECT FROM artifact_revisions serving
                      WHERE serving.tenant_id = %1$s.tenant_id AND serving.doc_id = %1$s.doc_id AND %4$s OFFSET 0)
         AND NOT EXISTS (SELECT FROM artifact_revisions sooner
                          WHERE sooner.tenant_id = %1$s.tenant_id AND sooner.doc_id = %1$s.doc_id
                            AND sooner.replaced_at > %2$L::timestamptz AND sooner.replaced_at < %1$s.replaced_at OFFSET 0)',
        event, as_of,
        CASE WHEN known_at IS NOT NULL
        THEN format(' AND %1$s.known_since <= %2$L::timestamptz AND %1$s.known_until <= %2$L::timestamptz', event, known_at) END,
        CASE WHEN known_at IS NULL THEN 'serving.is_latest' ELSE format('serving.served @> %L::timestamptz', known_at) END)
$$;

-- The condition that an event stood: as of a time on the event's clock, a time on ours, or both.
CREATE FUNCTION mnemon.event_stood(event text, as_of timestamptz, known_at timestamptz) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = mnemon, pg_temp AS $$
    SELECT CASE WHEN as_of IS NULL THEN event_was_served(event, known_at)
                ELSE format('(%s OR %s)', event_was_served(event, known_at), event_was_replaced(event, as_of, known_at)) END
$$;

-- How `e` had ended by then: the kind of the link from the first later event that stood, or NULL.
CREATE FUNCTION mnemon.event_had_ended(as_of timestamptz, known_at timestamptz) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = mnemon, pg_temp AS $$
    SELECT format(
        '(SELECT l.kind FROM event_links l
            JOIN semantic_events later ON later.tenant_id = l.tenant_id AND later.event_id = l.later
           WHERE l.tenant_id = e.tenant_id AND l.earlier = e.event_id%s
             AND link_tells(e.readers, later.readers) AND %s
           ORDER BY later.happened_at, later.event_id, l.kind LIMIT 1)',
        ' AND later.happened_at <= ' || quote_literal(as_of) || '::timestamptz', event_stood('later', as_of, known_at))
$$;
CREATE FUNCTION mnemon.event_had_status(status text, as_of timestamptz, known_at timestamptz) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = mnemon, pg_temp AS $$
    SELECT event_had_ended(as_of, known_at)
        || CASE status WHEN 'done' THEN ' = ''fulfils''' WHEN 'superseded' THEN ' = ''supersedes''' ELSE ' IS NULL' END
$$;

-- What became of these events as of then.
CREATE FUNCTION mnemon.statuses_as_of(events text[], as_of timestamptz, known_at timestamptz)
    RETURNS TABLE (event_id text, status text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT e.event_id, CASE %s WHEN ''fulfils'' THEN ''done'' WHEN ''supersedes'' THEN ''superseded'' ELSE ''open'' END
           FROM semantic_events e WHERE e.tenant_id = $1 AND e.event_id = ANY ($2) AND may_read(e.readers)',
        event_had_ended(as_of, known_at))
    USING current_tenant(), events;
END $$;

-- What every event that is found must fulfil, wherever it is found.
CREATE FUNCTION mnemon.event_scope(wanted jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = mnemon, pg_temp AS $$
    SELECT 'e.tenant_id = $1 AND may_read(e.readers)' || coalesce(string_agg(format(filter.clause, given.value), ''), '')
      FROM (VALUES ('category',   ' AND e.category = %L'),
                   ('time_from',  ' AND e.happened_at >= %L::timestamptz'),
                   ('time_to',    ' AND e.happened_at <= %L::timestamptz'),
                   ('as_of',      ' AND e.happened_at <= %L::timestamptz'),
                   ('doc_id',     ' AND e.doc_id = %L::uuid'),
                   ('due_before', ' AND e.due < %L::date'),
                   ('kind',       ' AND e.kind = %L')) AS filter (name, clause)
      JOIN jsonb_each_text(wanted) AS given (key, value) ON given.key = filter.name
$$;

-- What it must have become, today or by then. To look at links is slow, so what has the right keys is asked for it last.
CREATE FUNCTION mnemon.event_state(wanted jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = mnemon, pg_temp AS $$
    SELECT CASE WHEN NOT wanted ? 'status' THEN ''
                WHEN wanted ?| ARRAY['as_of', 'known_at'] THEN ' AND ' || event_had_status(
                    wanted ->> 'status', (wanted ->> 'as_of')::timestamptz, (wanted ->> 'known_at')::timestamptz)
                ELSE format(' AND e.status = %L', wanted ->> 'status') END
$$;

-- The sets of events that are searched, no event in two of them, each with an index that has its events by time.
CREATE FUNCTION mnemon.event_parts(wanted jsonb) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE SET search_path = mnemon, pg_temp AS $$
DECLARE
    past     boolean := coalesce((wanted ->> 'past')::boolean, false);
    as_of    timestamptz := wanted ->> 'as_of';
    known_at timestamptz := wanted ->> 'known_at';
    parts    text[] := ARRAY[' AND e.active'];
BEGIN
    IF past THEN
        parts := parts || ' AND NOT e.active'::text;
    ELSIF known_at IS NOT NULL THEN
        parts := parts || format(' AND NOT e.active AND e.known_until > %L::timestamptz', known_at);
    END IF;
    IF known_at IS NOT NULL THEN
        -- What was known then mostly lay before then. Little is foretold, and that has an index of its own.
        parts := ARRAY(SELECT format('%s AND e.happened_at <= %L::timestamptz', part, known_at) FROM unnest(parts) AS part)
              || format(' AND e.happened_at > %L::timestamptz AND e.happened_at > e.known_since', known_at);
        parts := ARRAY(SELECT part || ' AND ' || CASE WHEN past THEN format('e.known_since <= %L::timestamptz', known_at)
                                                      ELSE event_was_served('e', known_at) END
                         FROM unnest(parts) AS part);
    END IF;
    IF as_of IS NOT NULL AND NOT past THEN
        -- What its document went on to say is told once, in the later words.
        parts := parts || format(
            ' AND %s
              AND NOT EXISTS (SELECT FROM semantic_events still
                               WHERE still.tenant_id = e.tenant_id AND still.doc_id = e.doc_id AND %s
                                 AND still.happened_at <= %L::timestamptz AND still.category = e.category
                                 AND still.narrative = e.narrative OFFSET 0)',
            event_was_replaced('e', as_of, known_at), event_was_served('still', known_at), as_of);
    END IF;
    IF wanted ->> 'status' <> 'open' THEN
        RETURN ARRAY(SELECT part || ' AND e.linked' FROM unnest(parts) AS part);
    ELSIF wanted ? 'due_before' AND cardinality(parts) = 1 THEN
        RETURN event_parts_by_due(wanted ->> 'due_before');
    END IF;
    RETURN parts;
END $$;

-- Promises are made before they are due; those that say otherwise have an index of their own.
CREATE FUNCTION mnemon.event_parts_by_due(due_before text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY[
        format(' AND e.active AND e.happened_at < %s', moment),
        format(' AND e.active AND e.happened_at >= %s AND e.event_id = ANY (ARRAY(
                     SELECT late.event_id FROM semantic_events late
                      WHERE late.tenant_id = $1 AND late.active AND late.due < %L::date
                        AND late.due < (late.happened_at AT TIME ZONE ''UTC'')::date
                      ORDER BY late.happened_at DESC, late.event_id DESC LIMIT 1000))', moment, due_before)]
      FROM format('((%L::date + 1)::timestamp AT TIME ZONE ''UTC'')', due_before) AS moment
$$;

-- The words that a text is looked for by. Where there is none but "the" or "?", no event has what is looked for.
CREATE FUNCTION mnemon.words_to_find(asked text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT
    RETURN coalesce(nullif(tsvector_to_array(to_tsvector('english', asked)), '{}'), ARRAY['']);

-- The keys that an event must have: of a person and a subject in `named`, of what it is today in `being`.
CREATE FUNCTION mnemon.event_must_have(wanted jsonb, OUT named bigint[], OUT being bigint[])
    LANGUAGE sql STABLE SET search_path = mnemon, pg_temp AS $$
    SELECT ARRAY(SELECT term_key(current_tenant(), 'actor ' || lower(wanted ->> 'actor')) WHERE wanted ? 'actor')
        || ARRAY(SELECT term_key(current_tenant(), 'subject ' || lexeme)
                   FROM unnest(words_to_find(wanted ->> 'subject')) AS lexeme),
           ARRAY(SELECT term_key(current_tenant(), 'category ' || (wanted ->> 'category')) WHERE wanted ? 'category')
        || ARRAY(SELECT term_key(current_tenant(), 'status ' || (wanted ->> 'status'))
                  WHERE wanted ? 'status' AND NOT wanted ?| ARRAY['as_of', 'known_at'])
$$;

-- The condition that the keys of an event have all of the first and, where there are any, one of the second.
CREATE FUNCTION mnemon.has_keys(keys text, every bigint[], one_of bigint[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN cardinality(every) > 0 THEN format(' AND %s @> %L::bigint[]', keys, every) ELSE '' END
        || CASE WHEN cardinality(one_of) > 0 THEN format(' AND %s && %L::bigint[]', keys, one_of) ELSE '' END
$$;

-- The latest events first. `walk` and `look` are the same condition, for an event that comes by and for the index of keys
-- if it is to be asked; who is named often is named lately: then the walk has the page, and the index is not asked.
CREATE FUNCTION mnemon.latest_events(scope text, parts text[], walk text, look text, keyed boolean, after text) RETURNS text
    LANGUAGE sql IMMUTABLE AS $$
    SELECT format(
        'WITH walked AS MATERIALIZED (
              SELECT e.event_id, e.happened_at
                FROM (SELECT e.* FROM semantic_events e WHERE %s
                       ORDER BY e.happened_at DESC, e.event_id DESC LIMIT 3000) AS e
               WHERE true%s LIMIT $3),
              page AS (SELECT w.event_id, w.happened_at FROM walked w UNION (%s)),
              counted AS (SELECT count(*) AS total FROM (SELECT FROM (%s) AS each LIMIT $2) AS bounded)
         SELECT p.event_id, p.happened_at, 0::float8, c.total
           FROM page p, counted c ORDER BY p.happened_at DESC, p.event_id DESC LIMIT $3',
        CASE WHEN keyed AND cardinality(parts) = 1 THEN scope || parts[1] || after ELSE 'false' END, walk,
        string_agg(format(
            'SELECT part.event_id, part.happened_at
               FROM (SELECT e.event_id, e.happened_at
                       FROM (SELECT e.event_id, e.happened_at FROM semantic_events e
                              WHERE %s%s%s%s AND (SELECT count(*) FROM walked) < $3%s) AS e
                      ORDER BY e.happened_at DESC, e.event_id DESC LIMIT $3) AS part',
            scope, part, look, after, CASE WHEN keyed THEN ' OFFSET 0' END), ' UNION ALL '),
        string_agg(format('SELECT FROM (SELECT FROM semantic_events e WHERE %s%s%s LIMIT $2) AS part', scope, part, look),
                   ' UNION ALL '))
      FROM unnest(parts) AS part
$$;

-- The best events first, by their words and by `near`, those of about the same meaning. Words that are often said are
-- found by walking back from the latest event, since the index would list all that ever said them: `lately` tells which
-- kind of words these are.
CREATE FUNCTION mnemon.best_events(scope text, parts text[], walk text, look text, asked tsquery, near text) RETURNS text
    LANGUAGE sql IMMUTABLE AS $$
    WITH score AS (
        SELECT format('ts_rank(''{0.2,0.4,0.7,1}'', e.terms, %L::tsquery, 1)::float8 * (0.5 + e.confidence / 2)', asked) AS said
    ), back AS (
        SELECT format(
            'SELECT e.event_id, e.happened_at, %s AS score
               FROM (SELECT e.* FROM semantic_events e WHERE %s%%s
                      ORDER BY e.happened_at DESC, e.event_id DESC LIMIT %%s) AS e
              WHERE true%s LIMIT $2',
            replace(said, '%', '%%'), replace(scope || parts[1], '%', '%%'), replace(walk, '%', '%%')) AS walking
          FROM score
    )
    SELECT format(
        'WITH lately AS MATERIALIZED (%s), walked AS MATERIALIZED (%s),
              matching AS MATERIALIZED (SELECT * FROM (%s) AS each LIMIT $2),
              found AS (SELECT l.* FROM lately l UNION SELECT w.* FROM walked w UNION SELECT m.* FROM matching m),
              near AS MATERIALIZED (%s),
              whole AS MATERIALIZED (
                  SELECT event_id, coalesce(f.happened_at, n.happened_at) AS happened_at,
                         coalesce(f.score, 0) + 0.6 * coalesce(n.similarity, 0) AS score
                    FROM found f FULL JOIN near n USING (event_id))
         SELECT w.event_id, w.happened_at, w.score, (SELECT count(*) FROM whole)
           FROM whole w ORDER BY w.score DESC, w.happened_at DESC, w.event_id DESC LIMIT $3 OFFSET $4',
        format(walking, '', 2000), format(walking, ' AND (SELECT count(*) FROM lately) >= 100', 20000),
        (SELECT string_agg(format(
             'SELECT * FROM (SELECT e.event_id, e.happened_at, %s AS score FROM semantic_events e
                              WHERE %s%s%s AND (SELECT count(*) FROM walked) < $2 LIMIT $2) AS part',
             said, scope, part, look), ' UNION ALL ') FROM unnest(parts) AS part),
        near)
      FROM score, back
$$;

-- Events of about the same meaning as the question $5. Nearer than this is about the same matter; farther away everything
-- is near to something. The nearest are found first and then looked at: to go on until enough of them fit would walk
-- through much of the index. Of one artifact all are compared.
CREATE FUNCTION mnemon.near_events(wanted jsonb, question vector, scope text) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    model record;
BEGIN
    SELECT model_id, dimension INTO model FROM embedding_models
     WHERE tenant_id = current_tenant() AND relation = 'mnemon.semantic_event_vectors' AND state = 'active'
       AND dimension = vector_dims(question);
    IF NOT FOUND THEN
        RETURN 'SELECT NULL::text AS event_id, NULL::timestamptz AS happened_at, NULL::float8 AS similarity WHERE false';
    END IF;
    -- Here and not in the function's head, where only a superuser could restore them from a backup.
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '100', true);
    RETURN format(
        'SELECT e.event_id, e.happened_at, 1 - v.distance AS similarity
           FROM (SELECT n.tenant_id, n.event_id, n.embedding::halfvec(%1$s) <=> $5::halfvec(%1$s) AS distance
                   FROM semantic_event_vectors n
                  WHERE n.tenant_id = $1 AND n.model_id = %2$L AND %3$s) AS v
           JOIN semantic_events e ON e.tenant_id = v.tenant_id AND e.event_id = v.event_id
          WHERE v.distance <= 0.55 AND %4$s',
        model.dimension, model.model_id,
        CASE WHEN wanted ? 'doc_id'
        THEN format('n.event_id = ANY (ARRAY(SELECT o.event_id FROM semantic_events o
                                              WHERE o.tenant_id = $1 AND o.doc_id = %L::uuid))', wanted ->> 'doc_id')
        ELSE format('true ORDER BY n.embedding::halfvec(%s) <=> $5::halfvec(%1$s) LIMIT 100', model.dimension) END,
        scope);
END $$;

-- What a query in the words of a web search asks: "a phrase", this or that, -not this. `every` and `one_of` are the keys to
-- look for, `form` the condition that the words stand as they are asked, `without` that unwanted ones do not. `any_word`
-- takes events with some of the words.
CREATE FUNCTION mnemon.event_words(
    query text, any_word boolean, OUT said tsquery, OUT every bigint[], OUT one_of bigint[], OUT form text, OUT without text)
    LANGUAGE plpgsql STABLE SET search_path = mnemon, pg_temp AS $$
DECLARE
    unwanted text := '(?:^|\s)-("[^"]*"?|[^\s"]+)';
    asked    tsquery := websearch_to_tsquery('english', regexp_replace(query, unwanted, ' ', 'g'));
    lexemes  text[] := ARRAY(SELECT DISTINCT replace(piece[1], '''''', '''')
                               FROM regexp_matches(asked::text, '''((?:[^'']|'''')*)''', 'g') AS piece);
    keys     bigint[] := ARRAY(SELECT term_key(current_tenant(), lexeme) FROM unnest(lexemes) AS lexeme);
    choice   boolean := any_word OR asked::text ~ ' \| ';
BEGIN
    SELECT coalesce(string_agg(lexeme_query(lexeme)::text, ' | '), '')::tsquery INTO said FROM unnest(lexemes) AS lexeme;
    every := CASE WHEN choice THEN '{}' ELSE keys END;
    one_of := CASE WHEN choice THEN keys ELSE '{}' END;
    form := CASE WHEN cardinality(keys) = 0 THEN ' AND false'
                 WHEN any_word OR asked::text !~ ' (\||<\d+>|<->) ' THEN ''
                 ELSE format(' AND e.terms @@ %L::tsquery', asked) END;
    SELECT coalesce(string_agg(format(' AND NOT e.terms @@ %L::tsquery', phraseto_tsquery('english', piece[1])), ''), '')
      INTO without FROM regexp_matches(query, unwanted, 'g') AS piece;
END $$;

-- The condition that an event comes after the last one of the page before.
CREATE FUNCTION mnemon.event_after(wanted jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN wanted ? 'after_id' THEN format(
        ' AND (e.happened_at, e.event_id) < (%L::timestamptz, %L)', wanted ->> 'after_time', wanted ->> 'after_id') ELSE '' END
$$;

-- The events that fit, best or latest first, with their number up to a bound. Whatever is left out is not asked for.
-- With the question's vector, events about the same matter are found too. However many events there are, few are read:
-- an order by time walks an index and stops; words and names are looked up.
CREATE OR REPLACE FUNCTION mnemon.find_semantic_events(wanted jsonb, question vector, bound integer)
    RETURNS TABLE (event_id text, happened_at timestamptz, score float8, total bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET work_mem = '16MB'
    SET enable_seqscan = off SET enable_hashjoin = off SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
    keys  text := 'event_keys(e.tenant_id, e.lookup, e.category, e.status)';
    scope text := event_scope(wanted);
    state text := event_state(wanted);
    parts text[] := event_parts(wanted);
    must  record := event_must_have(wanted);
    words record;
    found text;
BEGIN
    IF wanted ? 'query' THEN
        words := event_words(wanted ->> 'query', coalesce((wanted ->> 'any_word')::boolean, false));
        state := words.without || state;
        found := best_events(
            scope, parts, has_keys('e.lookup', must.named || words.every, words.one_of) || words.form || state,
            has_keys(keys, must.named || must.being || words.every, words.one_of) || words.form || state, words.said,
            near_events(wanted, question, format('%s%s%s AND (%s)', scope, has_keys('e.lookup', must.named, '{}'), state, (
                SELECT string_agg(format('(true%s)', part), ' OR ') FROM unnest(parts) AS part))));
    ELSIF cardinality(must.named) > 0 THEN
        found := latest_events(scope, parts, has_keys('e.lookup', must.named, '{}') || state,
                               has_keys(keys, must.named || must.being, '{}') || state, true, event_after(wanted));
    ELSE
        found := latest_events(scope, parts, state, state, false, event_after(wanted));
    END IF;
    RETURN QUERY EXECUTE found USING
        current_tenant(), bound, (wanted ->> 'limit')::integer, coalesce((wanted ->> 'offset')::integer, 0), question;
END $$;

DROP FUNCTION mnemon.status_as_of(text, timestamptz, timestamptz);
DROP FUNCTION mnemon.had_status(text, timestamptz, timestamptz, boolean);

-- Earlier or later events that may be tied to new ones: their subject has a word of the new ones' quotes, or their text
-- has a word of the new ones' subjects. A link never tells the readers of one event about another's.
CREATE OR REPLACE FUNCTION mnemon.events_to_link(
    subjects text, quotes text, document uuid, own_revision uuid, own_readers text[], most integer)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp SET enable_seqscan = off AS $$
DECLARE
    tenant uuid := current_tenant();
    keys   bigint[] := ARRAY(SELECT term_key(tenant, 'subject ' || lexeme)
                               FROM unnest(tsvector_to_array(to_tsvector('english', quotes))) AS lexeme)
                    || term_keys(tenant, to_tsvector('english', subjects));
BEGIN
    RETURN QUERY
        (SELECT e.event_id FROM semantic_events e
          WHERE e.tenant_id = tenant AND e.active AND e.doc_version_id <> own_revision
            AND event_keys(e.tenant_id, e.lookup, e.category, e.status) && keys
            AND e.category IN ('Decision', 'Commitment', 'Execution', 'Change')
            AND e.readers IS NOT DISTINCT FROM own_readers
          LIMIT most)
        UNION
        (SELECT e.event_id FROM semantic_events e
          WHERE e.tenant_id = tenant AND e.doc_id = document AND e.doc_version_id <> own_revision
            AND e.category IN ('Decision', 'Commitment', 'Execution', 'Change')
          LIMIT most);
END $$;

-- What the application calls; the pieces it does not need.
DO $$
DECLARE
    piece regprocedure;
BEGIN
    FOR piece IN SELECT oid FROM pg_proc WHERE pronamespace = 'mnemon'::regnamespace AND proname IN (
        'event_was_served', 'event_was_replaced', 'event_stood', 'event_had_ended', 'event_had_status', 'event_scope',
        'event_state', 'event_after', 'event_parts', 'event_parts_by_due', 'event_must_have', 'event_words', 'words_to_find',
        'has_keys', 'latest_events', 'best_events', 'near_events')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', piece);
    END LOOP;
    REVOKE EXECUTE ON FUNCTION mnemon.statuses_as_of(text[], timestamptz, timestamptz) FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION mnemon.statuses_as_of(text[], timestamptz, timestamptz) TO mnemon_app;
END $$;

-- How often each key occurs, which the planner does not learn from the expression of a partial index.
CREATE STATISTICS mnemon.semantic_event_keys ON mnemon.event_keys(tenant_id, lookup, category, status) FROM mnemon.semantic_events;
ANALYZE mnemon.semantic_events;
