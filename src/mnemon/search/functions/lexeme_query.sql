-- The query that matches exactly this lexeme; a tsvector is written with the quotes that a tsquery reads.
CREATE OR REPLACE FUNCTION mnemon.lexeme_query(lexeme text) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_to_tsvector(ARRAY[lexeme])::text::tsquery;
