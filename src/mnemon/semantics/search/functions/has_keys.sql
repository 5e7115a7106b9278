-- The condition that the keys of an event have all of the first and, where there are any, one of the second.
CREATE OR REPLACE FUNCTION mnemon.has_keys(keys text, every bigint[], one_of bigint[]) RETURNS text
    LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN cardinality(every) > 0 THEN format(' AND %s @> %L::bigint[]', keys, every) ELSE '' END
        || CASE WHEN cardinality(one_of) > 0 THEN format(' AND %s && %L::bigint[]', keys, one_of) ELSE '' END
$$;
REVOKE EXECUTE ON FUNCTION mnemon.has_keys FROM PUBLIC;
