-- The condition that a row c and a row t of a table have the same primary key.
CREATE OR REPLACE FUNCTION mnemon.same_key(relation regclass) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT string_agg(format('c.%1$I = t.%1$I', a.attname), ' AND ' ORDER BY a.attnum)
      FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
     WHERE i.indrelid = relation AND i.indisprimary
$$;
