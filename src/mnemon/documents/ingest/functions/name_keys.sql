-- The keys that a name is found by: its own, and those of its words. As with the words of chunks, no name stands in
-- them.
CREATE OR REPLACE FUNCTION mnemon.name_keys(tenant_id uuid, name text) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000
    RETURN ARRAY(SELECT DISTINCT mnemon.term_key(name_keys.tenant_id, part)
                 FROM unnest(regexp_split_to_array(lower(name), '\W+') || lower(name)) AS part WHERE part <> '');
