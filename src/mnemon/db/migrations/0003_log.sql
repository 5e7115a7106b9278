-- The event log: partitions with their heads, events, payloads and the streams over them.

-- The head of each chain. Whoever holds this row's lock decides what comes next in the partition.
CREATE TABLE mnemon.partitions (
    tenant_id    uuid NOT NULL,
    partition_id integer GENERATED ALWAYS AS IDENTITY UNIQUE,
    legal_entity text COLLATE "C" NOT NULL CHECK (legal_entity ~ '^[^[:cntrl:]]{1,100}$'),
    sequence     bigint NOT NULL DEFAULT 0,
    hash         bytea NOT NULL CHECK (length(hash) = 32),
    recorded_at  timestamptz NOT NULL DEFAULT 'epoch',
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, legal_entity)
) WITH (fillfactor = 50);
CALL mnemon.isolate_by_tenant('mnemon.partitions');
GRANT SELECT ON mnemon.partitions TO mnemon_app;

-- `envelope` holds the attested text; the other columns repeat parts of it so that streams can be read in order.
CREATE TABLE mnemon.events (
    tenant_id      uuid NOT NULL,
    partition_id   integer NOT NULL,
    sequence       bigint NOT NULL,
    id             text COLLATE "C" NOT NULL,
    type           text COLLATE "C" NOT NULL,
    occurred_at    timestamptz NOT NULL,
    effective_date date NOT NULL,
    recorded_at    timestamptz NOT NULL,
    actor_id       text COLLATE "C" NOT NULL,
    correlation_id text COLLATE "C" NOT NULL,
    caused_by      text COLLATE "C",
    envelope       text NOT NULL,
    payload_digest bytea NOT NULL,
    previous_hash  bytea NOT NULL,
    hash           bytea NOT NULL,
    PRIMARY KEY (tenant_id, partition_id, sequence),
    UNIQUE (tenant_id, partition_id, id)
) PARTITION BY LIST (partition_id);
CREATE INDEX events_by_type ON mnemon.events (type, sequence);
CREATE INDEX events_by_correlation ON mnemon.events (correlation_id, sequence);
CREATE INDEX events_by_actor ON mnemon.events (actor_id, sequence);
CREATE INDEX events_by_cause ON mnemon.events (caused_by, sequence) WHERE caused_by IS NOT NULL;
CALL mnemon.isolate_by_tenant('mnemon.events');
GRANT SELECT ON mnemon.events TO mnemon_app;

-- Apart from the envelope, so that archiving and redaction touch no envelope byte. NULL: not kept here any more.
CREATE TABLE mnemon.event_payloads (
    tenant_id    uuid NOT NULL,
    partition_id integer NOT NULL,
    sequence     bigint NOT NULL,
    payload      text,
    PRIMARY KEY (tenant_id, partition_id, sequence)
) PARTITION BY LIST (partition_id);
CALL mnemon.isolate_by_tenant('mnemon.event_payloads');
GRANT SELECT ON mnemon.event_payloads TO mnemon_app;

-- One row per (event, entity). The version counts the entity's events, this one included.
CREATE TABLE mnemon.event_entities (
    tenant_id    uuid NOT NULL,
    partition_id integer NOT NULL,
    version      integer NOT NULL,
    sequence     bigint NOT NULL,
    entity_id    text COLLATE "C" NOT NULL,
    entity_type  text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, partition_id, entity_id, entity_type, sequence) INCLUDE (version)
);
CALL mnemon.isolate_by_tenant('mnemon.event_entities');
GRANT SELECT ON mnemon.event_entities TO mnemon_app;

-- Tags, and the rarer scopes (division, region, site, intent, custom) that a stream is read by.
CREATE TABLE mnemon.event_labels (
    tenant_id    uuid NOT NULL,
    partition_id integer NOT NULL,
    sequence     bigint NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    value        text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, partition_id, kind, value, sequence)
);
CALL mnemon.isolate_by_tenant('mnemon.event_labels');
GRANT SELECT ON mnemon.event_labels TO mnemon_app;

-- Whose personal fields an event holds, and which.
CREATE TABLE mnemon.event_subjects (
    tenant_id    uuid NOT NULL,
    partition_id integer NOT NULL,
    sequence     bigint NOT NULL,
    subject_id   text COLLATE "C" NOT NULL,
    fields       text[] NOT NULL,
    PRIMARY KEY (tenant_id, subject_id, partition_id, sequence)
);
CALL mnemon.isolate_by_tenant('mnemon.event_subjects');
GRANT SELECT ON mnemon.event_subjects TO mnemon_app;

-- Idempotency and business keys, as digests. An expired key is free again.
CREATE TABLE mnemon.event_keys (
    tenant_id    uuid NOT NULL,
    partition_id integer NOT NULL,
    key          bytea NOT NULL,
    content      bytea NOT NULL,
    sequence     bigint NOT NULL,
    expires_at   timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (tenant_id, partition_id, key)
);
CREATE INDEX event_keys_by_expiry ON mnemon.event_keys (expires_at) WHERE expires_at < 'infinity';
CALL mnemon.isolate_by_tenant('mnemon.event_keys');
GRANT SELECT ON mnemon.event_keys TO mnemon_app;

-- The types that a tenant declared for itself. Nothing is ever taken out; the highest revision of a version holds.
CREATE TABLE mnemon.event_types (
    tenant_id      uuid NOT NULL,
    type           text COLLATE "C" NOT NULL,
    schema_version integer NOT NULL CHECK (schema_version > 0),
    revision       integer NOT NULL CHECK (revision > 0),
    declaration    json NOT NULL,
    registered_by  text NOT NULL,
    registered_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, type, schema_version, revision)
);
CALL mnemon.isolate_by_tenant('mnemon.event_types');
GRANT SELECT, INSERT ON mnemon.event_types TO mnemon_app;

CREATE TABLE mnemon.periods (
    tenant_id    uuid NOT NULL,
    legal_entity text COLLATE "C" NOT NULL,
    name         text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    starts_on    date NOT NULL,
    ends_on      date NOT NULL CHECK (ends_on >= starts_on),
    status       text NOT NULL CHECK (status IN ('open', 'soft_closed', 'hard_closed')),
    changed_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, legal_entity, name)
);
CALL mnemon.isolate_by_tenant('mnemon.periods');
GRANT SELECT, INSERT, UPDATE ON mnemon.periods TO mnemon_app;

CREATE FUNCTION mnemon.refuse_change() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on %.% is refused: the log only grows', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;

-- Payloads have a guard of their own, the one place where archiving and redaction may open a narrow path.
CREATE FUNCTION mnemon.refuse_payload_change() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on %.% is refused: the log only grows', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;

-- Row triggers reach the partitions by themselves; truncation triggers do not, so each partition gets its own.
CREATE PROCEDURE mnemon.guard(relation regclass, guardian regproc)
    LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER only_grows BEFORE UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION %s()',
                   relation, guardian);
    EXECUTE format('CREATE TRIGGER is_never_emptied BEFORE TRUNCATE ON %s EXECUTE FUNCTION mnemon.refuse_change()',
                   relation);
END $$;
CALL mnemon.guard('mnemon.events', 'mnemon.refuse_change');
CALL mnemon.guard('mnemon.event_payloads', 'mnemon.refuse_payload_change');
CALL mnemon.guard('mnemon.event_entities', 'mnemon.refuse_change');
CALL mnemon.guard('mnemon.event_labels', 'mnemon.refuse_change');
CALL mnemon.guard('mnemon.event_subjects', 'mnemon.refuse_change');
CALL mnemon.guard('mnemon.event_types', 'mnemon.refuse_change');

-- ATTACH blocks neither readers nor writers of other partitions; CREATE TABLE … PARTITION OF would.
CREATE PROCEDURE mnemon.add_partition(parent text, partition_id integer)
    LANGUAGE plpgsql AS $$
DECLARE
    child text := format('mnemon.%I', parent || '_' || partition_id);
BEGIN
    EXECUTE format('CREATE TABLE %s (LIKE mnemon.%I INCLUDING ALL)', child, parent);
    EXECUTE format('ALTER TABLE mnemon.%I ATTACH PARTITION %s FOR VALUES IN (%s)', parent, child, partition_id);
    EXECUTE format('CREATE TRIGGER is_never_emptied BEFORE TRUNCATE ON %s EXECUTE FUNCTION mnemon.refuse_change()',
                   child);
END $$;

-- The partition of a legal entity of the current tenant, made if it is new.
CREATE FUNCTION mnemon.open_partition(wanted text, OUT partition_id integer, OUT created boolean)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := mnemon.current_tenant();
BEGIN
    IF tenant IS NULL THEN
        RAISE EXCEPTION 'no tenant is set' USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT p.partition_id INTO open_partition.partition_id
      FROM mnemon.partitions p WHERE p.tenant_id = tenant AND p.legal_entity = wanted;
    created := NOT FOUND;
    IF created THEN
        INSERT INTO mnemon.partitions AS p (tenant_id, legal_entity, hash)
        VALUES (tenant, wanted, sha256(convert_to(format(E'mnemon/genesis/1\n%s\n%s', tenant, wanted), 'UTF8')))
        ON CONFLICT DO NOTHING
        RETURNING p.partition_id INTO open_partition.partition_id;
        IF NOT FOUND THEN  -- someone else made it while we waited for their commit
            SELECT p.partition_id, false INTO open_partition.partition_id, created
              FROM mnemon.partitions p WHERE p.tenant_id = tenant AND p.legal_entity = wanted;
            RETURN;
        END IF;
        CALL mnemon.add_partition('events', open_partition.partition_id);
        CALL mnemon.add_partition('event_payloads', open_partition.partition_id);
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.open_partition FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.open_partition TO mnemon_app;
REVOKE EXECUTE ON PROCEDURE mnemon.guard, mnemon.add_partition FROM PUBLIC;

-- What speaks against an append, NULL if nothing does:
--   {"versions": [actual, …]}   one per expectation, if any of them fails
--   {"keys": {"n": {…}}}        the original of each key that is taken, by its place (from 1)
--   {"periods": [{…}]}          each date that falls in a closed period
CREATE FUNCTION mnemon.refusals_of(
    tenant uuid, partition integer, legal_entity text, expected_types text[], expected_ids text[],
    expected_versions integer[], key_digests bytea[], unapproved_dates date[], approved_dates date[])
    RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    taken   jsonb;
    actual  jsonb;
    closed  jsonb;
    failing boolean;
BEGIN
    IF cardinality(key_digests) > 0 THEN
        SELECT jsonb_object_agg(row.n, jsonb_build_object(
                   'content', encode(k.content, 'hex'), 'sequence', k.sequence, 'id', e.id,
                   'recorded_at', e.recorded_at, 'previous', encode(e.previous_hash, 'hex'),
                   'hash', encode(e.hash, 'hex')))
          INTO taken
          FROM unnest(key_digests) WITH ORDINALITY AS row (key, n)
          JOIN mnemon.event_keys k ON k.tenant_id = tenant AND k.partition_id = partition AND k.key = row.key
          JOIN mnemon.events e ON e.tenant_id = tenant AND e.partition_id = partition AND e.sequence = k.sequence
         WHERE k.expires_at > clock_timestamp();
    END IF;
    IF cardinality(expected_versions) > 0 THEN
        SELECT jsonb_agg(version ORDER BY n), bool_or(version <> expected) INTO actual, failing
          FROM (SELECT row.n, row.expected, coalesce((
                           SELECT e.version FROM mnemon.event_entities e
                            WHERE e.tenant_id = tenant AND e.partition_id = partition
                              AND e.entity_id = row.entity AND e.entity_type = row.kind
                            ORDER BY e.sequence DESC LIMIT 1), 0) AS version
                  FROM unnest(expected_types, expected_ids, expected_versions)
                       WITH ORDINALITY AS row (kind, entity, expected, n)) AS versions;
    END IF;
    SELECT jsonb_agg(DISTINCT jsonb_build_object('date', day, 'name', p.name, 'status', p.status)) INTO closed
      FROM mnemon.periods p
      JOIN (SELECT unnest(unapproved_dates) AS day, true AS soft_too
            UNION ALL SELECT unnest(approved_dates), false) AS days
        ON day BETWEEN p.starts_on AND p.ends_on
     WHERE p.tenant_id = tenant AND p.legal_entity = refusals_of.legal_entity
       AND (p.status = 'hard_closed' OR p.status = 'soft_closed' AND soft_too);
    IF taken IS NULL AND closed IS NULL AND failing IS NOT TRUE THEN
        RETURN NULL;
    END IF;
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'keys', taken, 'versions', CASE WHEN failing THEN actual END, 'periods', closed));
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.refusals_of FROM PUBLIC;

-- Writes events at the head of a partition, all or none, and returns what a caller needs to know of them.
--
-- Columns come as arrays, one element per row; `*_events` say which event (from 1) a side row belongs to.
-- `digests` is SHA-256(envelope) and SHA-256(payload) of each event, 64 bytes per event, end to end.
-- If a key is taken, an entity is not at its expected version or a period is closed, nothing is written and
-- `refusals` lists all that was found, for the caller to leave out those events and call again.
CREATE FUNCTION mnemon.append_events(
    partition integer, ids text[], types text[], occurred timestamptz[], effective date[], actors text[],
    correlations text[], causes text[], envelopes text[], payloads text[], digests bytea,
    entity_events integer[], entity_types text[], entity_ids text[], entity_ranks integer[],
    label_events integer[], label_kinds text[], label_values text[],
    subject_events integer[], subject_ids text[], subject_fields text[],
    expected_types text[], expected_ids text[], expected_versions integer[],
    key_events integer[], key_digests bytea[], key_contents bytea[], key_expiries timestamptz[],
    unapproved_dates date[], approved_dates date[],
    OUT refusals jsonb, OUT first_sequence bigint, OUT recorded_at timestamptz, OUT previous bytea, OUT hashes bytea)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    -- A plan made while the tables were small must still be right when they are not.
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
#variable_conflict use_column
DECLARE
    tenant     uuid := mnemon.current_tenant();
    head       mnemon.partitions;
    link       bytea;
    links      bytea[];
    stamp      bytea;
    amount     integer := cardinality(ids);
    last       bigint;
BEGIN
    -- From here to the commit no one else can add to this partition, so what is read below stays true.
    SELECT * INTO head FROM mnemon.partitions p
     WHERE p.tenant_id = tenant AND p.partition_id = partition FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'partition % does not exist for this tenant', partition USING ERRCODE = 'no_data_found';
    END IF;

    refusals := mnemon.refusals_of(tenant, partition, head.legal_entity, expected_types, expected_ids,
        expected_versions, key_digests, unapproved_dates, approved_dates);
    IF refusals IS NOT NULL THEN
        RETURN;
    END IF;

    -- The clock may go back; recorded time does not.
    append_events.recorded_at := greatest(clock_timestamp(), head.recorded_at);
    first_sequence := head.sequence + 1;
    last := head.sequence + amount;
    previous := head.hash;
    stamp := int8send((extract(epoch FROM append_events.recorded_at) * 1000000)::bigint);
    link := head.hash;
    links[1] := link;
    FOR i IN 1..amount LOOP
        link := sha256('mnemon/event/1\012'::bytea || link || int8send(head.sequence + i) || stamp
                       || substring(digests FROM i * 64 - 63 FOR 64));
        links[i + 1] := link;
    END LOOP;

    INSERT INTO mnemon.events (tenant_id, partition_id, sequence, id, type, occurred_at, effective_date, recorded_at,
                               actor_id, correlation_id, caused_by, envelope, payload_digest, previous_hash, hash)
    SELECT tenant, partition, head.sequence + n, id, type, occurred_at, effective_date, append_events.recorded_at,
           actor_id, correlation_id, caused_by, envelope, substring(digests FROM n::integer * 64 - 31 FOR 32),
           previous_hash, hash
      FROM unnest(ids, types, occurred, effective, actors, correlations, causes, envelopes,
                  links[1:amount], links[2:amount + 1])
           WITH ORDINALITY AS row (id, type, occurred_at, effective_date, actor_id, correlation_id, caused_by,
                                   envelope, previous_hash, hash, n);
    INSERT INTO mnemon.event_payloads (tenant_id, partition_id, sequence, payload)
    SELECT tenant, partition, head.sequence + n, payload
      FROM unnest(payloads) WITH ORDINALITY AS row (payload, n);
    INSERT INTO mnemon.event_entities (tenant_id, partition_id, version, sequence, entity_id, entity_type)
    SELECT tenant, partition, row.rank + coalesce((
               SELECT e.version FROM mnemon.event_entities e
                WHERE e.tenant_id = tenant AND e.partition_id = partition
                  AND e.entity_id = row.entity AND e.entity_type = row.kind
                ORDER BY e.sequence DESC LIMIT 1), 0),
           head.sequence + row.event, row.entity, row.kind
      FROM unnest(entity_events, entity_types, entity_ids, entity_ranks) AS row (event, kind, entity, rank);
    IF cardinality(label_events) > 0 THEN
        INSERT INTO mnemon.event_labels (tenant_id, partition_id, sequence, kind, value)
        SELECT tenant, partition, head.sequence + event, kind, value
          FROM unnest(label_events, label_kinds, label_values) AS row (event, kind, value);
    END IF;
    IF cardinality(subject_events) > 0 THEN
        INSERT INTO mnemon.event_subjects (tenant_id, partition_id, sequence, subject_id, fields)
        SELECT tenant, partition, head.sequence + event, subject_id, array_agg(field ORDER BY field)
          FROM unnest(subject_events, subject_ids, subject_fields) AS row (event, subject_id, field)
         GROUP BY event, subject_id;
    END IF;
    IF cardinality(key_events) > 0 THEN
        INSERT INTO mnemon.event_keys (tenant_id, partition_id, key, content, sequence, expires_at)
        SELECT tenant, partition, key, content, head.sequence + event, expires_at
          FROM unnest(key_events, key_digests, key_contents, key_expiries) AS row (event, key, content, expires_at)
        ON CONFLICT (tenant_id, partition_id, key) DO UPDATE
           SET content = excluded.content, sequence = excluded.sequence, expires_at = excluded.expires_at;
    END IF;
    UPDATE mnemon.partitions p SET sequence = last, hash = link, recorded_at = append_events.recorded_at
     WHERE p.tenant_id = tenant AND p.legal_entity = head.legal_entity;
    SELECT string_agg(hash, ''::bytea ORDER BY n) INTO hashes
      FROM unnest(links[2:amount + 1]) WITH ORDINALITY AS row (hash, n);
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.append_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.append_events TO mnemon_app;

-- The last sequence recorded by a moment; 0 if none was. Recorded time never goes back, so halving finds it.
CREATE FUNCTION mnemon.sequence_at(partition integer, moment timestamptz) RETURNS bigint
    LANGUAGE plpgsql STABLE AS $$
DECLARE
    low    bigint := 0;
    high   bigint;
    middle bigint;
    found_at timestamptz;
BEGIN
    SELECT p.sequence INTO high FROM mnemon.partitions p
     WHERE p.tenant_id = mnemon.current_tenant() AND p.partition_id = partition;
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        SELECT e.recorded_at INTO found_at FROM mnemon.events e
         WHERE e.tenant_id = mnemon.current_tenant() AND e.partition_id = partition AND e.sequence = middle;
        IF found_at <= moment THEN
            low := middle;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN low;
END $$;

-- Complete subtrees of the Merkle tree over a partition's hashes, from level 8 (256 events) up, so that a receipt
-- need not read the whole log. Each receipt is checked against a signed root, so nothing rests on these rows.
CREATE TABLE mnemon.merkle_nodes (
    tenant_id    uuid NOT NULL,
    partition_id integer NOT NULL,
    level        integer NOT NULL CHECK (level >= 8),
    place        bigint NOT NULL,
    hash         bytea NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (tenant_id, partition_id, level, place)
);
CALL mnemon.isolate_by_tenant('mnemon.merkle_nodes');
GRANT SELECT, INSERT ON mnemon.merkle_nodes TO mnemon_app;
