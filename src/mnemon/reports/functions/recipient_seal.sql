-- The digest of a recipient's row that the event of its making tells. What is sealed begins with a number that was
-- drawn for it alone, and so is the salt.
CREATE OR REPLACE FUNCTION mnemon.recipient_seal(one mnemon.recipients) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN encode(sha256(one.sealed || convert_to(jsonb_build_array(
        one.tenant_id, one.recipient_id, one.way, one.name, one.event_types, one.report_kinds, one.paused,
        one.created_by)::text, 'UTF8')), 'hex');
