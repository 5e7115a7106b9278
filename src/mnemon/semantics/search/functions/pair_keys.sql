-- The keys of what somebody has to do with a subject.
CREATE OR REPLACE FUNCTION mnemon.pair_keys(tenant uuid, person text, topic text) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN mnemon.term_key(tenant, 'actor ' || lower(person))
        || ARRAY(SELECT mnemon.term_key(tenant, 'subject ' || lexeme)
                   FROM unnest(tsvector_to_array(to_tsvector('english', topic))) AS lexeme);
