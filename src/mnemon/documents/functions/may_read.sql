-- Whether the reader of the transaction is among these. NULL readers: everyone of the tenant.
CREATE OR REPLACE FUNCTION mnemon.may_read(readers text[]) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN readers IS NULL
        OR coalesce(readers && string_to_array(nullif(current_setting('mnemon.reader', true), ''), E'\x1f'), false);
