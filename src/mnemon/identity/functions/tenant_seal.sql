-- The digest of a tenant's row that the event which begins its log tells.
CREATE OR REPLACE FUNCTION mnemon.tenant_seal(one mnemon.tenants) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN encode(sha256(convert_to(jsonb_build_array(one.tenant_id, one.slug, one.name)::text, 'UTF8')), 'hex');
