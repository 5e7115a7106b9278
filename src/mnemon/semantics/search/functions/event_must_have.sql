-- The keys that an event must have: of a person and a subject in `named`, of what it is today in `being`.
CREATE OR REPLACE FUNCTION mnemon.event_must_have(wanted jsonb, OUT named bigint[], OUT being bigint[])
    LANGUAGE sql STABLE SET search_path = mnemon, pg_temp AS $$
    SELECT ARRAY(SELECT term_key(current_tenant(), 'actor ' || lower(wanted ->> 'actor')) WHERE wanted ? 'actor')
        || ARRAY(SELECT term_key(current_tenant(), 'subject ' || lexeme)
                   FROM unnest(words_to_find(wanted ->> 'subject')) AS lexeme),
           ARRAY(SELECT term_key(current_tenant(), 'category ' || (wanted ->> 'category')) WHERE wanted ? 'category')
        || ARRAY(SELECT term_key(current_tenant(), 'status ' || (wanted ->> 'status'))
                  WHERE wanted ? 'status' AND NOT wanted ?| ARRAY['as_of', 'known_at'])
$$;
REVOKE EXECUTE ON FUNCTION mnemon.event_must_have FROM PUBLIC;
