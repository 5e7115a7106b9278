-- The best events first, by their words and by `near`, those of about the same meaning. Words that are often said are
-- found by walking back from the latest event, since the index would list all that ever said them: `lately` tells which
-- kind of words these are.
CREATE OR REPLACE FUNCTION mnemon.best_events(scope text, parts text[], walk text, look text, asked tsquery, near text)
    RETURNS text
    LANGUAGE sql IMMUTABLE AS $$
    WITH score AS (
        SELECT format(
            'ts_rank(''{0.2,0.4,0.7,1}'', e.terms, %L::tsquery, 1)::float8 * (0.5 + e.confidence / 2)', asked) AS said
    ), back AS (
        SELECT format(
            'SELECT e.event_id, e.happened_at, %s AS score
               FROM (SELECT e.* FROM semantic_events e WHERE %s%%s
                      ORDER BY e.happened_at DESC, e.event_id DESC LIMIT %%s) AS e
              WHERE true%s LIMIT $2',
            replace(said, '%', '%%'), replace(scope || parts[1], '%', '%%'), replace(walk, '%', '%%')) AS walking
          FROM score
    )
    SELECT format(
        'WITH lately AS MATERIALIZED (%s), walked AS MATERIALIZED (%s),
              matching AS MATERIALIZED (SELECT * FROM (%s) AS each LIMIT $2),
              found AS (SELECT l.* FROM lately l UNION SELECT w.* FROM walked w UNION SELECT m.* FROM matching m),
              near AS MATERIALIZED (%s),
              whole AS MATERIALIZED (
                  SELECT event_id, coalesce(f.happened_at, n.happened_at) AS happened_at,
                         coalesce(f.score, 0) + 0.6 * coalesce(n.similarity, 0) AS score
                    FROM found f FULL JOIN near n USING (event_id))
         SELECT w.event_id, w.happened_at, w.score, (SELECT count(*) FROM whole)
           FROM whole w ORDER BY w.score DESC, w.happened_at DESC, w.event_id DESC LIMIT $3 OFFSET $4',
        format(walking, '', 2000), format(walking, ' AND (SELECT count(*) FROM lately) >= 100', 20000),
        (SELECT string_agg(format(
             'SELECT * FROM (SELECT e.event_id, e.happened_at, %s AS score FROM semantic_events e
                              WHERE %s%s%s AND (SELECT count(*) FROM walked) < $2 LIMIT $2) AS part',
             said, scope, part, look), ' UNION ALL ') FROM unnest(parts) AS part),
        near)
      FROM score, back
$$;
REVOKE EXECUTE ON FUNCTION mnemon.best_events FROM PUBLIC;
