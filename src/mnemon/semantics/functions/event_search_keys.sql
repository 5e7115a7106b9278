-- The keys of an event, with those of what it is today: a word within a category is one look into one index.
CREATE OR REPLACE FUNCTION mnemon.event_search_keys(tenant_id uuid, lookup bigint[], category text, status text)
    RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 100
    RETURN lookup || ARRAY[
        mnemon.term_key(tenant_id, 'category ' || category), mnemon.term_key(tenant_id, 'status ' || status)];
