-- The keys under which an event is found by the words of its text, by a name, and by a word of its subject.
CREATE OR REPLACE FUNCTION mnemon.event_lookup(tenant_id uuid, terms tsvector, names text[], subject tsvector)
    RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN mnemon.term_keys(tenant_id, terms)
        || ARRAY(SELECT mnemon.term_key(event_lookup.tenant_id, 'actor ' || name) FROM unnest(names) AS name)
        || ARRAY(SELECT mnemon.term_key(event_lookup.tenant_id, 'subject ' || lexeme)
                   FROM unnest(tsvector_to_array(subject)) AS lexeme);
