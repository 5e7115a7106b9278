-- How often a lexeme stands in a text. `ts_rank` of one lexeme is the only quick way to it: it adds 1/1 + 1/4 + 1/9 …,
-- one for each occurrence, divided by pi squared over six; the thresholds undo that. More than 24 count as 24.
CREATE OR REPLACE FUNCTION mnemon.occurrences(terms tsvector, lexeme tsquery) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN width_bucket(ts_rank('{1,1,1,1}', terms, lexeme)::float8 * 1.64493406685, ARRAY[
        0.500000, 1.125000, 1.305556, 1.392361, 1.443611, 1.477500, 1.501593, 1.519610,
        1.533595, 1.544768, 1.553900, 1.561504, 1.567935, 1.573445, 1.578218, 1.582393,
        1.586077, 1.589350, 1.592278, 1.594913, 1.597297, 1.599464, 1.601442, 1.603255]::float8[]);
