-- The digest of a source's row that its events tell: all but when it was made and when the next look is due.
CREATE OR REPLACE FUNCTION mnemon.source_seal(one mnemon.document_sources) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN encode(sha256(one.salt || convert_to(jsonb_build_array(
        one.tenant_id, one.source_id, one.name, one.kind, one.place, one.prefix, one.include, one.exclude, one.tags,
        one.endpoint, one.region, one.access, encode(one.sealed_keys, 'hex'), one.every_minutes, one.paused,
        one.created_by)::text, 'UTF8')), 'hex');
