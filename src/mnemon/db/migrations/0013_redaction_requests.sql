-- Redactions that one person asked for, until another approves or declines.

CREATE TABLE mnemon.redaction_requests (
    tenant_id    uuid NOT NULL,
    redaction_id text COLLATE "C" NOT NULL,
    event_id     text COLLATE "C" NOT NULL,
    fields       text[] NOT NULL CHECK (cardinality(fields) > 0),
    subject_id   text COLLATE "C",
    reason       text NOT NULL CHECK (reason ~ '^[a-z][a-z0-9_]{1,59}$'),
    reference    text CHECK (reference ~ '^[A-Za-z0-9#/_.:-]{1,100}$'),
    status       text NOT NULL DEFAULT 'requested'
                 CHECK (status IN ('requested', 'declined', 'redacted', 'completed')),
    requested_by text NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    decided_by   text CHECK (status = 'declined' OR decided_by <> requested_by),
    decided_at   timestamptz,
    -- The event that says what was taken out; none if nothing was left to take.
    attested_by  text COLLATE "C" CHECK (attested_by IS NULL OR status IN ('redacted', 'completed')),
    lenses_rebuilt text[] NOT NULL DEFAULT '{}',
    last_error   text,
    PRIMARY KEY (tenant_id, redaction_id),
    CHECK ((status = 'requested') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL))
);
CALL mnemon.isolate_by_tenant('mnemon.redaction_requests');
GRANT SELECT, INSERT (tenant_id, redaction_id, event_id, fields, subject_id, reason, reference, requested_by)
   ON mnemon.redaction_requests TO mnemon_app;
GRANT UPDATE (status, decided_by, decided_at, attested_by, lenses_rebuilt, last_error) ON mnemon.redaction_requests TO mnemon_app;

CREATE FUNCTION mnemon.keep_redaction_requests() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.status, NEW.status) IN (
        ('requested', 'declined'), ('requested', 'redacted'), ('redacted', 'redacted'), ('redacted', 'completed')) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of a redaction is refused: it only goes on from requested to completed', TG_OP
        USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER only_goes_on BEFORE UPDATE OR DELETE ON mnemon.redaction_requests
    FOR EACH ROW EXECUTE FUNCTION mnemon.keep_redaction_requests();
CREATE TRIGGER is_never_emptied BEFORE TRUNCATE ON mnemon.redaction_requests EXECUTE FUNCTION mnemon.refuse_change();

-- As before, and two more refusals: the event must name the sequence, as that is what verifiers go by; and an event
-- that attests a redaction keeps its own words, or the payload that it speaks of could no longer be told from a forgery.
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
