-- The chunks that may answer a question, by their words and by their meaning, measured with those around them. It runs
-- as the owner and takes the tenant from the session, as its parts do: row-level security would keep the application
-- role from using the GIN index.
CREATE OR REPLACE FUNCTION mnemon.find_chunks(
    one_of text[], every text[], bars float8[], revisions uuid[], queries tsquery[], weights float8[],
    k1 float8, b float8, average float8, scored integer,
    question vector, model text, exhaustive boolean, most integer, reach integer, nearby integer)
    RETURNS TABLE (doc_version_id uuid, ordinal integer, away integer, start_offset integer, end_offset integer,
                   length integer, speaker text, said_on date, asks real, similarity float8,
                   occurrences text, in_headings text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    near  record;
    found record;
BEGIN
    SELECT array_agg(n.doc_version_id) AS revisions, array_agg(n.ordinal) AS ordinals INTO near
    FROM nearest_chunks(question, revisions, exhaustive, most) AS n;
    -- The index ran dry: what it passed by is found by comparing all.
    IF question IS NOT NULL AND NOT exhaustive AND coalesce(cardinality(near.ordinals), 0) < most THEN
        SELECT array_agg(n.doc_version_id) AS revisions, array_agg(n.ordinal) AS ordinals INTO near
        FROM nearest_chunks(question, revisions, true, most) AS n;
    END IF;
    SELECT array_agg(one.doc_version_id) AS revisions, array_agg(one.ordinal) AS ordinals INTO found
    FROM (
        SELECT l.doc_version_id, l.ordinal
        FROM lexical_search(one_of, every, bars, revisions, queries, weights, k1, b, average, scored, most) AS l
        UNION SELECT * FROM unnest(near.revisions, near.ordinals)) AS one;
    RETURN QUERY SELECT * FROM measure_chunks(found.revisions, found.ordinals, reach, nearby, queries, question, model);
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.find_chunks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.find_chunks TO mnemon_app;
