-- The latest events first. `walk` and `look` are the same condition, for an event that comes by and for the index of
-- keys if it is to be asked; who is named often is named lately: then the walk has the page, and the index is not
-- asked.
CREATE OR REPLACE FUNCTION mnemon.latest_events(
    scope text, parts text[], walk text, look text, keyed boolean, after text)
    RETURNS text
    LANGUAGE sql IMMUTABLE AS $$
    SELECT format(
        'WITH walked AS MATERIALIZED (
              SELECT e.event_id, e.happened_at
                FROM (SELECT e.* FROM semantic_events e WHERE %s
                       ORDER BY e.happened_at DESC, e.event_id DESC LIMIT 3000) AS e
               WHERE true%s LIMIT $3),
              page AS (SELECT w.event_id, w.happened_at FROM walked w UNION (%s)),
              counted AS (SELECT count(*) AS total FROM (SELECT FROM (%s) AS each LIMIT $2) AS bounded)
         SELECT p.event_id, p.happened_at, 0::float8, c.total
           FROM page p, counted c ORDER BY p.happened_at DESC, p.event_id DESC LIMIT $3',
        CASE WHEN keyed AND cardinality(parts) = 1 THEN scope || parts[1] || after ELSE 'false' END, walk,
        string_agg(format(
            'SELECT part.event_id, part.happened_at
               FROM (SELECT e.event_id, e.happened_at
                       FROM (SELECT e.event_id, e.happened_at FROM semantic_events e
                              WHERE %s%s%s%s AND (SELECT count(*) FROM walked) < $3%s) AS e
                      ORDER BY e.happened_at DESC, e.event_id DESC LIMIT $3) AS part',
            scope, part, look, after, CASE WHEN keyed THEN ' OFFSET 0' END), ' UNION ALL '),
        string_agg(format('SELECT FROM (SELECT FROM semantic_events e WHERE %s%s%s LIMIT $2) AS part',
                          scope, part, look),
                   ' UNION ALL '))
      FROM unnest(parts) AS part
$$;
REVOKE EXECUTE ON FUNCTION mnemon.latest_events FROM PUBLIC;
