-- The one way to take something out of a payload that was stored in plain text. It can only take away, and only
-- what an event of the same chain, approved by a second person, says: this payload, at this sequence, from this digest
-- to that one. Such an event serves once. An event that attests a redaction keeps its own words, or the payload that it
-- speaks of could no longer be told from a forgery.
CREATE OR REPLACE FUNCTION mnemon.redact_payload(partition integer, place bigint, redacted text, attesting text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    tenant   uuid := mnemon.current_tenant();
    present  text;
    target   text;
    kind     text;
    envelope json;
    said     json;
BEGIN
    SELECT e.id, e.type INTO target, kind FROM mnemon.events e
     WHERE e.tenant_id = tenant AND e.partition_id = partition AND e.sequence = place;
    IF kind = 'privacy.payload.redacted' THEN
        RAISE EXCEPTION 'event % attests a redaction and stays as it is', place
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT p.payload INTO present FROM mnemon.event_payloads p
     WHERE p.tenant_id = tenant AND p.partition_id = partition AND p.sequence = place FOR UPDATE;
    IF present IS NULL THEN
        RAISE EXCEPTION 'event % has no payload here', place USING ERRCODE = 'no_data_found';
    END IF;
    SELECT e.envelope::json, p.payload::json -> 'data' INTO envelope, said
      FROM mnemon.events e JOIN mnemon.event_payloads p USING (tenant_id, partition_id, sequence)
     WHERE e.tenant_id = tenant AND e.partition_id = partition AND e.id = attesting
       AND e.type = 'privacy.payload.redacted';
    IF NOT FOUND
       OR envelope ->> 'approved_by' IS NULL
       OR envelope ->> 'approved_by' = envelope #>> '{actor,id}'
       OR said ->> 'event_id' IS DISTINCT FROM target
       OR said ->> 'sequence' IS DISTINCT FROM place::text
       OR said ->> 'old_digest' IS DISTINCT FROM encode(mnemon.text_digest(present), 'hex')
       OR said ->> 'new_digest' IS DISTINCT FROM encode(mnemon.text_digest(redacted), 'hex') THEN
        RAISE EXCEPTION 'no event attests this redaction of event %', place
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    -- PostgreSQL cannot take JSON with a null character apart. It is compared as a character that is never escaped.
    IF redacted = present OR position('\ue000' IN redacted || present) > 0
       OR NOT mnemon.only_redacts(replace(redacted, '\u0000', '\ue000')::json,
                                  replace(present, '\u0000', '\ue000')::json) THEN
        RAISE EXCEPTION 'the new payload of event % does more than to redact', place
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO mnemon.redactions (tenant_id, partition_id, sequence, number, old_digest, new_digest, attested_by)
    SELECT tenant, partition, place, count(*) + 1, mnemon.text_digest(present), mnemon.text_digest(redacted), attesting
      FROM mnemon.redactions r
     WHERE r.tenant_id = tenant AND r.partition_id = partition AND r.sequence = place;
    UPDATE mnemon.event_payloads p SET payload = redacted
     WHERE p.tenant_id = tenant AND p.partition_id = partition AND p.sequence = place;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.redact_payload FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.redact_payload TO mnemon_app;
