-- The best events that fit, by their words and by their meaning, with their relevance. Words that are often said are
-- found by walking back from the latest event, since the index would list all that ever said them: how many of the
-- latest have them tells which kind of words these are. The score is the relevance, as for every kind of text: the
-- share of the words that an event has, the rare ones counting more, counts 0.4, its nearness in meaning 0.6; words
-- alone without a vector. How rare they are is told by the passages that events are read from. `unscored` asks for the
-- order alone.
CREATE OR REPLACE FUNCTION mnemon.best_events(wanted jsonb, question vector, bound integer)
    RETURNS TABLE (event_id text, happened_at timestamptz, score float8, total bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET work_mem = '16MB' SET plan_cache_mode = force_custom_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET max_parallel_workers_per_gather = 0 AS $$
#variable_conflict use_column
DECLARE
    tenant   uuid := current_tenant();
    parts    text[] := event_parts(wanted);
    part     text;
    as_of    timestamptz := wanted ->> 'as_of';
    known_at timestamptz := wanted ->> 'known_at';
    -- Whether links tell what an event had become by then; what it is today stands with it.
    by_links boolean := wanted ? 'status' AND num_nonnulls(as_of, known_at) > 0;
    must     record := event_must_have(wanted);
    words    record := event_words(wanted ->> 'query', coalesce((wanted ->> 'any_word')::boolean, false));
    named    bigint[] := must.named;
    every    bigint[] := must.named || words.every;
    keys     bigint[] := must.named || must.being || words.every;
    one_of   bigint[] := words.one_of;
    asked    tsquery := words.said;
    form     tsquery := words.form;
    without  tsquery := words.without;
    ids      text[] := '{}';
    times    timestamptz[] := '{}';
    ranks    float8[] := '{}';
    near     jsonb := '{}';
    found    record;
    depth    integer;
BEGIN
    IF cardinality(words.every || words.one_of) > 0 THEN
        part := parts[1];
        FOREACH depth IN ARRAY ARRAY[2000, 20000] LOOP
            EXIT WHEN depth = 20000 AND cardinality(ids) < 100;
            SELECT coalesce(array_agg(w.event_id), '{}'), coalesce(array_agg(w.happened_at), '{}'),
                   coalesce(array_agg(w.rank), '{}') INTO ids, times, ranks
              FROM (SELECT e.event_id, e.happened_at, event_rank(e.terms, asked, e.confidence) AS rank
                      FROM (SELECT e.event_id, e.happened_at, e.lookup, e.terms, e.confidence
                              FROM events_that_fit(tenant, wanted, part, as_of, known_at, false) AS e
                             ORDER BY e.happened_at DESC, e.event_id DESC LIMIT depth) AS e
                     WHERE e.lookup @> every AND (cardinality(one_of) = 0 OR e.lookup && one_of)
                       AND (form IS NULL OR e.terms @@ form) AND (without IS NULL OR NOT e.terms @@ without)
                       AND (NOT by_links OR EXISTS (
                           SELECT FROM events_that_fit(tenant, wanted, part, as_of, known_at, true) AS f
                            WHERE f.event_id = e.event_id OFFSET 0)) LIMIT bound) AS w;
        END LOOP;
        IF cardinality(ids) < bound THEN
            FOREACH part IN ARRAY parts LOOP
                SELECT array_agg(m.event_id) AS ids, array_agg(m.happened_at) AS times, array_agg(m.rank) AS ranks
                  INTO found
                  FROM (SELECT e.event_id, e.happened_at, event_rank(e.terms, asked, e.confidence) AS rank
                          FROM events_that_fit(tenant, wanted, part, as_of, known_at, true) AS e
                         WHERE event_search_keys(e.tenant_id, e.lookup, e.category, e.status) @> keys
                           AND (cardinality(one_of) = 0
                                OR event_search_keys(e.tenant_id, e.lookup, e.category, e.status) && one_of)
                           AND (form IS NULL OR e.terms @@ form) AND (without IS NULL OR NOT e.terms @@ without)
                         LIMIT bound) AS m;
                ids := ids || coalesce(found.ids, '{}');
                times := times || coalesce(found.times, '{}');
                ranks := ranks || coalesce(found.ranks, '{}');
                EXIT WHEN cardinality(ids) >= 2 * bound;
            END LOOP;
        END IF;
    END IF;
    IF question IS NOT NULL THEN
        SELECT coalesce(jsonb_object_agg(n.event_id, n.similarity), '{}') INTO near
          FROM near_events(question, (wanted ->> 'doc_id')::uuid) AS n;
        FOREACH part IN ARRAY parts LOOP
            SELECT array_agg(m.event_id) AS ids, array_agg(m.happened_at) AS times INTO found
              FROM (SELECT e.event_id, e.happened_at
                      FROM jsonb_object_keys(near) AS n (event_id)
                     CROSS JOIN LATERAL (
                           SELECT e.event_id, e.happened_at
                             FROM events_that_fit(tenant, wanted, part, as_of, known_at, true) AS e
                            WHERE e.event_id = n.event_id AND e.lookup @> named
                              AND (without IS NULL OR NOT e.terms @@ without) OFFSET 0) AS e) AS m;
            ids := ids || coalesce(found.ids, '{}');
            times := times || coalesce(found.times, '{}');
            ranks := ranks || array_fill(0::float8, ARRAY[coalesce(cardinality(found.ids), 0)]);
        END LOOP;
    END IF;
    RETURN QUERY
    WITH whole AS MATERIALIZED (
        SELECT one.event_id, one.happened_at, max(one.rank) AS rank,
               coalesce((near ->> one.event_id)::float8, 0) AS near,
               -- A question that names a kind of event puts those that are certain and stand first.
               CASE WHEN wanted ? 'favoured' THEN (
                   SELECT e.confidence * CASE WHEN e.category = wanted ->> 'favoured' THEN 3 ELSE 1 END
                                       * CASE WHEN e.status = 'open' THEN 1 ELSE 0.8 END
                     FROM semantic_events e WHERE e.tenant_id = tenant AND e.event_id = one.event_id)
               ELSE 1 END AS favour,
               -- Of that kind and with all its words: nothing of another kind says better what is asked for.
               wanted ? 'favoured' AND cardinality(words.every) > 0 AND max(one.rank) > 0 AND (
                   SELECT e.category = wanted ->> 'favoured' AND e.confidence >= 0.5
                     FROM semantic_events e WHERE e.tenant_id = tenant AND e.event_id = one.event_id) AS meant
          FROM unnest(ids, times, ranks) AS one (event_id, happened_at, rank) GROUP BY one.event_id, one.happened_at
    ), page AS MATERIALIZED (
        SELECT w.*, row_number() OVER place AS place FROM whole w
        WINDOW place AS (ORDER BY w.meant DESC, (w.rank + 0.6 * w.near) * w.favour DESC,
                         w.happened_at DESC, w.event_id DESC)
         ORDER BY place LIMIT (wanted ->> 'limit')::integer OFFSET coalesce((wanted ->> 'offset')::integer, 0)
    ), asked_for AS MATERIALIZED (
        SELECT t.lexeme, t.term_key, t.texts FROM question_terms(wanted ->> 'query', 'passage') AS t
         WHERE t.lexeme = ANY (words.stems)
    ), rarity AS MATERIALIZED (
        SELECT a.lexeme,
               ln(1 + (greatest(corpus.texts, known.texts) - known.texts + 0.5) / (known.texts + 0.5)) AS weight
          FROM asked_for AS a
         CROSS JOIN LATERAL (
               SELECT CASE WHEN a.term_key IN (SELECT hidden_terms(ARRAY(SELECT term_key FROM asked_for))) THEN 0
                           ELSE a.texts END AS texts) AS known
         CROSS JOIN (SELECT coalesce(sum(c.texts), 0) AS texts FROM text_counts AS c
                      WHERE c.tenant_id = tenant AND c.kind = 'passage') AS corpus)
    -- What stands above another is taken to be as relevant. Reckoned from the last upwards: the other way round the
    -- window would be gone through anew for each row, which took 24 ms of 31 for a thousand.
    SELECT p.event_id, p.happened_at,
           max(CASE WHEN question IS NULL THEN said.share ELSE 0.4 * said.share + 0.6 * p.near END)
               OVER (ORDER BY p.place DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
           (SELECT least(count(*), bound) FROM whole)
      FROM page p
     CROSS JOIN LATERAL (
           SELECT CASE WHEN wanted ? 'unscored' THEN 0 ELSE (
               SELECT coalesce((
                   SELECT sum(weight) FILTER (WHERE lexeme = ANY (tsvector_to_array(e.terms))) / sum(weight)
                     FROM rarity), 0)::float8
                 FROM semantic_events e WHERE e.tenant_id = tenant AND e.event_id = p.event_id) END AS share
           OFFSET 0) AS said
     ORDER BY p.place;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.best_events FROM PUBLIC;
