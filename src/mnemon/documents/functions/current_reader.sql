-- Who asks, for the transaction: the first of their names. Without a name only what everyone of the tenant may read is
-- shown.
CREATE OR REPLACE FUNCTION mnemon.current_reader() RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(split_part(current_setting('mnemon.reader', true), E'\x1f', 1), '');
