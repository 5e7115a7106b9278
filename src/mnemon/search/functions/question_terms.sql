-- The words of a question as the index knows them, with the number of texts of a kind that have each.
CREATE OR REPLACE FUNCTION mnemon.question_terms(question text, counted_kind text)
    RETURNS TABLE (lexeme text, query text, term_key bigint, texts bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT asked.lexeme, lexeme_query(asked.lexeme)::text, key, coalesce((
        SELECT sum(counted.texts) FROM term_counts AS counted
        WHERE counted.tenant_id = current_tenant() AND counted.kind = counted_kind
          AND counted.term_key = key), 0)::bigint
    FROM unnest(to_tsvector('english', question)) AS asked, term_key(current_tenant(), asked.lexeme) AS key
$$;
REVOKE EXECUTE ON FUNCTION mnemon.question_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.question_terms TO mnemon_app;
