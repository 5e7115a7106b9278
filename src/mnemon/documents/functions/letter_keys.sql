-- The keys of every two and every three letters that stand together in a name or in the tags beside it: by these an
-- index finds a part of a name, as pg_trgm would, which not every server has.
CREATE OR REPLACE FUNCTION mnemon.letter_keys(tenant_id uuid, name text, tags text[]) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000
    RETURN ARRAY(
        SELECT DISTINCT mnemon.term_key(letter_keys.tenant_id, 'name ' || substr(part, place, size))
          FROM unnest(ARRAY[lower(name), lower(array_to_string(tags, ' '))]) AS part,
               generate_series(2, 3) AS size, generate_series(1, length(part) - size + 1) AS place);
