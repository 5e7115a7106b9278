-- The columns of a table that can be written, as a list.
CREATE OR REPLACE FUNCTION mnemon.written_columns(relation regclass) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
     WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
$$;
