-- A payload changes only into what a record attests: nothing, if its range is stored in the archive; the attested
-- text, when it comes back; the redacted text, if a redaction says so. No marker to forge: the rows that are asked
-- here can be written by the owner's functions only, and each is matched against the very bytes.
CREATE OR REPLACE FUNCTION mnemon.refuse_payload_change() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE'
       AND (NEW.tenant_id, NEW.partition_id, NEW.sequence) = (OLD.tenant_id, OLD.partition_id, OLD.sequence) THEN
        IF NEW.payload IS NULL AND OLD.payload IS NOT NULL AND EXISTS (
            SELECT FROM mnemon.archives a
             WHERE a.tenant_id = OLD.tenant_id AND a.partition_id = OLD.partition_id AND a.state = 'stored'
               AND OLD.sequence BETWEEN a.first_sequence AND a.last_sequence) THEN
            RETURN NEW;
        END IF;
        IF OLD.payload IS NULL AND mnemon.text_digest(NEW.payload)
           = mnemon.attested_digest(OLD.tenant_id, OLD.partition_id, OLD.sequence) THEN
            RETURN NEW;
        END IF;
        IF EXISTS (
            SELECT FROM mnemon.redactions r
             WHERE r.tenant_id = OLD.tenant_id AND r.partition_id = OLD.partition_id AND r.sequence = OLD.sequence
               AND r.old_digest = mnemon.text_digest(OLD.payload)
               AND r.new_digest = mnemon.text_digest(NEW.payload)) THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION '% on %.% is refused: the log only grows', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;
