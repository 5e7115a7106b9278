-- The keys of every two and every three letters that stand together in a name or in the tags beside it: by these an
-- index finds a part of a name, as pg_trgm would, which not every server has. A key may come twice, which the index
-- does not mind. A loop: a query takes twice as long for each name, and thirty times as long for an empty one. Each is
-- what `term_key` gives for `name …`, with what all of them begin with put together once.
CREATE OR REPLACE FUNCTION mnemon.letter_keys(tenant_id uuid, name text, tags text[]) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
DECLARE
    keys bigint[] := '{}';
    own  text := tenant_id::text || 'name ';
    part text;
BEGIN
    FOREACH part IN ARRAY ARRAY[lower(name), lower(array_to_string(tags, ' '))] LOOP
        FOR place IN 1 .. length(part) - 1 LOOP
            keys := keys || hashtextextended(own || substr(part, place, 2), 0)
                         || hashtextextended(own || substr(part, place, 3), 0);
        END LOOP;
    END LOOP;
    RETURN keys;
END $$;
