-- How well an event says the words, the surer the better: more for its subject and narrative than for its quotes.
CREATE OR REPLACE FUNCTION mnemon.event_rank(terms tsvector, asked tsquery, confidence double precision)
    RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ts_rank('{0.2,0.4,0.7,1}', terms, asked, 1)::float8 * (0.5 + confidence / 2);
