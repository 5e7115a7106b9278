-- Who asks, for the transaction. Without a name only what everyone of the tenant may read is shown.
CREATE OR REPLACE FUNCTION mnemon.current_reader() RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('mnemon.reader', true), '');
