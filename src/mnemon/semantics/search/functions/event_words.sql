-- What a query in the words of a web search asks: "a phrase", this or that, -not this. `every` and `one_of` are the
-- keys to look for, `form` is how the words must stand, where that matters, and `without` what must not be said.
-- `any_word` takes events with some of the words.
CREATE OR REPLACE FUNCTION mnemon.event_words(
    query text, any_word boolean,
    OUT said tsquery, OUT stems text[], OUT every bigint[], OUT one_of bigint[], OUT form tsquery, OUT without tsquery)
    LANGUAGE plpgsql STABLE SET search_path = mnemon, pg_temp AS $$
DECLARE
    unwanted text := '(?:^|\s)-("[^"]*"?|[^\s"]+)';
    asked    tsquery := websearch_to_tsquery('english', regexp_replace(query, unwanted, ' ', 'g'));
    lexemes  text[] := ARRAY(SELECT DISTINCT replace(piece[1], '''''', '''')
                               FROM regexp_matches(asked::text, '''((?:[^'']|'''')*)''', 'g') AS piece);
    keys     bigint[] := ARRAY(SELECT term_key(current_tenant(), lexeme) FROM unnest(lexemes) AS lexeme);
    choice   boolean := any_word OR asked::text ~ ' \| ';
BEGIN
    SELECT coalesce(string_agg(lexeme_query(lexeme)::text, ' | '), '')::tsquery
      INTO said FROM unnest(lexemes) AS lexeme;
    stems := lexemes;
    every := CASE WHEN choice THEN '{}' ELSE keys END;
    one_of := CASE WHEN choice THEN keys ELSE '{}' END;
    form := CASE WHEN NOT any_word AND asked::text ~ ' (\||<\d+>|<->) ' THEN asked END;
    SELECT string_agg('(' || phrase || ')', ' | ')::tsquery INTO without
      FROM regexp_matches(query, unwanted, 'g') AS piece, CAST(phraseto_tsquery('english', piece[1]) AS text) AS phrase
     WHERE phrase <> '';
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.event_words FROM PUBLIC;
