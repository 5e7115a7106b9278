-- The digest of a mail source's row that its events tell: all but how far it was read and how that went.
CREATE OR REPLACE FUNCTION mnemon.mail_source_seal(one mnemon.mail_sources) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN encode(sha256(one.salt || convert_to(jsonb_build_array(
        one.tenant_id, one.source_id, one.name, one.source_type, one.location, one.every_minutes, one.paused,
        one.visibility_scope, one.readers, one.created_by)::text, 'UTF8')), 'hex');
