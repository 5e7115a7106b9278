-- The arguments that make an object of a row t's primary key.
CREATE OR REPLACE FUNCTION mnemon.key_as_json(relation regclass) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT string_agg(format('%1$L, t.%1$I', a.attname), ', ' ORDER BY a.attnum)
      FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
     WHERE i.indrelid = relation AND i.indisprimary
$$;
