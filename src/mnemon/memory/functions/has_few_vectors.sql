-- Whether a tenant has so few vectors of a model that comparing them all is quicker than the index.
CREATE OR REPLACE FUNCTION mnemon.has_few_vectors(tenant uuid, model text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT count(*) <= 2000 FROM (
        SELECT FROM mnemon.memory_vectors v WHERE v.tenant_id = tenant AND v.model_id = model LIMIT 2001) AS counted
$$;
REVOKE EXECUTE ON FUNCTION mnemon.has_few_vectors FROM PUBLIC;
