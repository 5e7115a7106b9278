-- The keys of all terms of a text. The cost keeps the planner from calculating the keys of rows when it could look
-- them up in the index.
CREATE OR REPLACE FUNCTION mnemon.term_keys(tenant_id uuid, terms tsvector) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000
    RETURN ARRAY(SELECT mnemon.term_key(term_keys.tenant_id, lexeme) FROM unnest(tsvector_to_array(terms)) AS lexeme);
