-- The events that fit, best or latest first, with their number up to a bound. Whatever is left out is not asked for.
-- With the question's vector, events about the same matter are found too. However many events there are, few are read:
-- an order by time walks an index and stops; words and names are looked up.
CREATE OR REPLACE FUNCTION mnemon.find_semantic_events(wanted jsonb, question vector, bound integer)
    RETURNS TABLE (event_id text, happened_at timestamptz, score float8, total bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET work_mem = '16MB'
    SET enable_seqscan = off SET enable_hashjoin = off SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
    keys  text := 'event_search_keys(e.tenant_id, e.lookup, e.category, e.status)';
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
            near_events(wanted, question, format(
                '%s%s%s AND (%s)', scope, has_keys('e.lookup', must.named, '{}'), state, (
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
REVOKE EXECUTE ON FUNCTION mnemon.find_semantic_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.find_semantic_events TO mnemon_app;
