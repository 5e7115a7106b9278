-- Privacy: a key per person, the record of erasures, and the only ways in which a stored payload may change.

-- Key-encryption keys that data keys are wrapped with, by their fingerprints. The keys themselves are never here.
CREATE TABLE mnemon.wrapping_keys (
    key_id   text COLLATE "C" PRIMARY KEY,
    added_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT ON mnemon.wrapping_keys TO mnemon_app;

-- One data key per person and generation, wrapped. A destroyed one stays as a tombstone without its key.
CREATE TABLE mnemon.subject_keys (
    tenant_id    uuid NOT NULL,
    subject_id   text COLLATE "C" NOT NULL CHECK (length(subject_id) BETWEEN 1 AND 200),
    generation   integer NOT NULL CHECK (generation > 0),
    key_id       text COLLATE "C" REFERENCES mnemon.wrapping_keys,
    wrapped_key  bytea,
    created_at   timestamptz NOT NULL DEFAULT now(),
    rewrapped_at timestamptz,
    destroyed_at timestamptz,
    PRIMARY KEY (tenant_id, subject_id, generation),
    CHECK ((destroyed_at IS NULL) = (wrapped_key IS NOT NULL)),
    CHECK ((wrapped_key IS NULL) = (key_id IS NULL))
);
CREATE UNIQUE INDEX subject_keys_one_living ON mnemon.subject_keys (tenant_id, subject_id) WHERE destroyed_at IS NULL;
CREATE INDEX subject_keys_by_wrapping_key ON mnemon.subject_keys (key_id, tenant_id, subject_id) WHERE key_id IS NOT NULL;
CALL mnemon.isolate_by_tenant('mnemon.subject_keys');
GRANT SELECT ON mnemon.subject_keys TO mnemon_app;

CREATE FUNCTION mnemon.keep_tombstones() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.destroyed_at IS NULL
       AND (NEW.tenant_id, NEW.subject_id, NEW.generation) = (OLD.tenant_id, OLD.subject_id, OLD.generation) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% on %.% is refused: a destroyed key stays destroyed', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER stays_destroyed BEFORE UPDATE OR DELETE ON mnemon.subject_keys
    FOR EACH ROW EXECUTE FUNCTION mnemon.keep_tombstones();
CREATE TRIGGER is_never_emptied BEFORE TRUNCATE ON mnemon.subject_keys EXECUTE FUNCTION mnemon.refuse_change();

-- First keys of people who never had one; returns whose keys these became. Someone else may have been faster, and
-- a person with a destroyed key is passed over: only `readmit_subject` gives them a new one.
CREATE FUNCTION mnemon.add_subject_keys(subject_ids text[], wrapping_key text, wrapped_keys bytea[])
    RETURNS SETOF text
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    INSERT INTO mnemon.subject_keys (tenant_id, subject_id, generation, key_id, wrapped_key)
    SELECT mnemon.current_tenant(), subject_id, 1, wrapping_key, wrapped_key
      FROM unnest(subject_ids, wrapped_keys) AS row (subject_id, wrapped_key)
     ORDER BY subject_id
    ON CONFLICT (tenant_id, subject_id, generation) DO NOTHING
    RETURNING subject_id
$$;

-- The next generation for a person whose earlier keys are all destroyed; NULL if there is nothing to follow.
CREATE FUNCTION mnemon.readmit_subject(subject text, wrapping_key text, wrapped bytea, destroyed_before timestamptz)
    RETURNS integer
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    INSERT INTO mnemon.subject_keys (tenant_id, subject_id, generation, key_id, wrapped_key)
    SELECT tenant_id, subject_id, max(generation) + 1, wrapping_key, wrapped
      FROM mnemon.subject_keys
     WHERE tenant_id = mnemon.current_tenant() AND subject_id = subject
     GROUP BY tenant_id, subject_id
    HAVING bool_and(destroyed_at IS NOT NULL) AND max(destroyed_at) < destroyed_before
    RETURNING generation
$$;

-- An append that names a person holds their key to its commit, or is refused if the key is gone. So what was sealed
-- with a key from some process's memory is never committed after that key was destroyed.
CREATE FUNCTION mnemon.hold_subject_keys() RETURNS trigger
    LANGUAGE plpgsql AS $$
DECLARE
    tenant uuid;
    wanted text[];
    held   text[];
BEGIN
    SELECT (array_agg(tenant_id))[1], array_agg(DISTINCT subject_id) INTO tenant, wanted FROM added;
    SELECT array_agg(living.subject_id) INTO held
      FROM (SELECT k.subject_id FROM mnemon.subject_keys k
             WHERE k.tenant_id = tenant AND k.subject_id = ANY (wanted) AND k.destroyed_at IS NULL
               FOR KEY SHARE) AS living;
    IF cardinality(held) IS DISTINCT FROM cardinality(wanted) THEN
        RAISE EXCEPTION 'a person named by the events has no living key' USING ERRCODE = 'MN001', DETAIL = (
            SELECT to_json(array_agg(missing))::text
              FROM (SELECT unnest(wanted) EXCEPT SELECT unnest(held)) AS gone (missing));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER holds_the_keys AFTER INSERT ON mnemon.event_subjects
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION mnemon.hold_subject_keys();

-- The deletion log.
CREATE TABLE mnemon.erasures (
    tenant_id        uuid NOT NULL,
    erasure_id       text COLLATE "C" NOT NULL,
    subject_id       text COLLATE "C" NOT NULL,
    reason           text NOT NULL CHECK (reason ~ '^[a-z][a-z0-9_]{1,59}$'),
    reference        text CHECK (reference ~ '^[A-Za-z0-9#/_.:-]{1,100}$'),
    status           text NOT NULL DEFAULT 'requested'
                     CHECK (status IN ('requested', 'declined', 'key_destroyed', 'completed')),
    requested_by     text NOT NULL,
    requested_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    decided_by       text CHECK (status = 'declined' OR decided_by <> requested_by),
    decided_at       timestamptz,
    key_destroyed_at timestamptz,
    events_affected  bigint,
    lenses_rebuilt   text[] NOT NULL DEFAULT '{}',
    completed_at     timestamptz,
    last_error       text,
    PRIMARY KEY (tenant_id, erasure_id),
    CHECK ((status = 'requested') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)),
    CHECK ((status IN ('key_destroyed', 'completed')) = (key_destroyed_at IS NOT NULL)),
    CHECK ((key_destroyed_at IS NULL) = (events_affected IS NULL)),
    CHECK ((status = 'completed') = (completed_at IS NOT NULL))
);
CREATE UNIQUE INDEX erasures_one_open ON mnemon.erasures (tenant_id, subject_id) WHERE status = 'requested';
CREATE INDEX erasures_by_subject ON mnemon.erasures (tenant_id, subject_id, requested_at);
CALL mnemon.isolate_by_tenant('mnemon.erasures');
GRANT SELECT, INSERT (tenant_id, erasure_id, subject_id, reason, reference, requested_by) ON mnemon.erasures TO mnemon_app;
GRANT UPDATE (status, decided_by, decided_at, lenses_rebuilt, completed_at, last_error) ON mnemon.erasures TO mnemon_app;

CREATE FUNCTION mnemon.keep_erasures() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.status, NEW.status) IN (
        ('requested', 'declined'), ('requested', 'key_destroyed'), ('key_destroyed', 'key_destroyed'),
        ('key_destroyed', 'completed')) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of an erasure is refused: it only goes on from requested to completed', TG_OP
        USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER only_goes_on BEFORE UPDATE OR DELETE ON mnemon.erasures
    FOR EACH ROW EXECUTE FUNCTION mnemon.keep_erasures();
CREATE TRIGGER is_never_emptied BEFORE TRUNCATE ON mnemon.erasures EXECUTE FUNCTION mnemon.refuse_change();

-- Destroys the key that a requested erasure asks for. FOR UPDATE waits for the appends that hold it (FOR KEY SHARE),
-- so the count below, in a snapshot of its own, has every event that was ever sealed with it.
CREATE FUNCTION mnemon.destroy_subject_key(erasure text, approver text) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    tenant uuid := mnemon.current_tenant();
    asked  mnemon.erasures;
BEGIN
    SELECT * INTO asked FROM mnemon.erasures e
     WHERE e.tenant_id = tenant AND e.erasure_id = erasure AND e.status = 'requested' FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'erasure % is not open', erasure USING ERRCODE = 'no_data_found';
    END IF;
    PERFORM FROM mnemon.subject_keys k
      WHERE k.tenant_id = tenant AND k.subject_id = asked.subject_id AND k.destroyed_at IS NULL FOR UPDATE;
    UPDATE mnemon.subject_keys k SET key_id = NULL, wrapped_key = NULL, destroyed_at = clock_timestamp()
     WHERE k.tenant_id = tenant AND k.subject_id = asked.subject_id AND k.destroyed_at IS NULL;
    UPDATE mnemon.erasures e
       SET status = 'key_destroyed', decided_by = approver, decided_at = clock_timestamp(),
           key_destroyed_at = clock_timestamp(),
           events_affected = (SELECT count(*) FROM mnemon.event_subjects s
                               WHERE s.tenant_id = tenant AND s.subject_id = asked.subject_id)
     WHERE e.tenant_id = tenant AND e.erasure_id = erasure;
    PERFORM pg_notify('mnemon_privacy', json_build_object('tenant', tenant, 'subject', asked.subject_id)::text);
END $$;

REVOKE EXECUTE ON FUNCTION mnemon.add_subject_keys, mnemon.readmit_subject, mnemon.destroy_subject_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.add_subject_keys, mnemon.readmit_subject, mnemon.destroy_subject_key TO mnemon_app;

-- What was taken out of payloads that were stored in plain text. The events' own digests stay as they were.
CREATE TABLE mnemon.redactions (
    tenant_id    uuid NOT NULL,
    partition_id integer NOT NULL,
    sequence     bigint NOT NULL,
    number       integer NOT NULL CHECK (number > 0),
    old_digest   bytea NOT NULL CHECK (length(old_digest) = 32),
    new_digest   bytea NOT NULL CHECK (length(new_digest) = 32),
    attested_by  text COLLATE "C" NOT NULL,
    redacted_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, partition_id, sequence, number),
    UNIQUE (tenant_id, partition_id, attested_by)
);
CALL mnemon.isolate_by_tenant('mnemon.redactions');
GRANT SELECT ON mnemon.redactions TO mnemon_app;
CALL mnemon.guard('mnemon.redactions', 'mnemon.refuse_change');

-- Where payloads are that are no longer in `event_payloads`: one object of the archive store per range.
CREATE TABLE mnemon.archives (
    tenant_id      uuid NOT NULL,
    partition_id   integer NOT NULL,
    first_sequence bigint NOT NULL,
    last_sequence  bigint NOT NULL CHECK (last_sequence >= first_sequence),
    object_key     text COLLATE "C" NOT NULL,
    object_digest  bytea NOT NULL CHECK (length(object_digest) = 32),
    object_bytes   bigint NOT NULL,
    payload_bytes  bigint NOT NULL,
    state          text NOT NULL CHECK (state IN ('writing', 'stored', 'restored')),
    changed_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, partition_id, first_sequence)
);
CALL mnemon.isolate_by_tenant('mnemon.archives');
GRANT SELECT ON mnemon.archives TO mnemon_app;

-- What SHA-256 of an event's payload must be now: as recorded, or as its last redaction left it.
CREATE FUNCTION mnemon.attested_digest(tenant uuid, partition integer, place bigint) RETURNS bytea
    LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT r.new_digest FROM mnemon.redactions r
          WHERE r.tenant_id = tenant AND r.partition_id = partition AND r.sequence = place
          ORDER BY r.number DESC LIMIT 1),
        (SELECT e.payload_digest FROM mnemon.events e
          WHERE e.tenant_id = tenant AND e.partition_id = partition AND e.sequence = place))
$$;

CREATE FUNCTION mnemon.text_digest(payload text) RETURNS bytea
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN sha256(convert_to(payload, 'UTF8'));

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

-- Whether `after` is `before` with some values, at any depth, replaced by the word for an erased one.
CREATE FUNCTION mnemon.only_redacts(after json, before json) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF after::text IN (before::text, '"[REDACTED]"') THEN
        RETURN true;
    ELSIF json_typeof(after) = 'object' AND json_typeof(before) = 'object' THEN
        RETURN (SELECT bool_and(coalesce(mnemon.only_redacts(a.value, b.value), false))
                  FROM json_each(after) a FULL JOIN json_each(before) b USING (key));
    ELSIF json_typeof(after) = 'array' AND json_typeof(before) = 'array' THEN
        RETURN (SELECT bool_and(coalesce(mnemon.only_redacts(a.value, b.value), false))
                  FROM json_array_elements(after) WITH ORDINALITY a (value, n)
                  FULL JOIN json_array_elements(before) WITH ORDINALITY b (value, n) USING (n));
    END IF;
    RETURN false;
END $$;

-- The one way to take something out of a payload that was stored in plain text. It can only take away, and only
-- what an event of the same chain, approved by a second person, says: this payload, from this digest to that one. Such
-- an event serves once.
CREATE FUNCTION mnemon.redact_payload(partition integer, place bigint, redacted text, attesting text) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    tenant   uuid := mnemon.current_tenant();
    present  text;
    target   text;
    envelope json;
    said     json;
BEGIN
    SELECT e.id INTO target FROM mnemon.events e
     WHERE e.tenant_id = tenant AND e.partition_id = partition AND e.sequence = place;
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
