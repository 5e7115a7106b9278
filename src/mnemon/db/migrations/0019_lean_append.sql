-- Appends with less work per event: versions are looked up for those who ask, rows are read off the arrays directly.

-- NULL where nobody asked: such a row adds one to the last version before it.
ALTER TABLE mnemon.event_entities ALTER COLUMN version DROP NOT NULL;

-- How many events an entity has had. It walks back to the last row with a version: that of the last event that
-- expected one, or of the last milestone.
CREATE FUNCTION mnemon.entity_version(tenant uuid, partition integer, kind text, entity text) RETURNS integer
    LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    known integer;
    since bigint;
    added integer;
BEGIN
    SELECT e.version, e.sequence INTO known, since FROM mnemon.event_entities e
     WHERE e.tenant_id = tenant AND e.partition_id = partition AND e.entity_id = entity AND e.entity_type = kind
       AND e.version IS NOT NULL
     ORDER BY e.sequence DESC LIMIT 1;
    SELECT count(*) INTO added FROM mnemon.event_entities e
     WHERE e.tenant_id = tenant AND e.partition_id = partition AND e.entity_id = entity AND e.entity_type = kind
       AND e.sequence > coalesce(since, 0);
    RETURN coalesce(known, 0) + added;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.entity_version FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.entity_version TO mnemon_app;

-- One event in 256 carries the versions of its entities though nobody asked, so that no walk is long. A hash of the
-- sequence picks them: an entity that comes up in every second event must meet one too.
CREATE FUNCTION mnemon.is_milestone(sequence bigint) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN hashint8(sequence) & 255 = 0;

-- As before, but for the versions, and with one look where nothing is closed.
CREATE OR REPLACE FUNCTION mnemon.refusals_of(
    tenant uuid, partition integer, legal_entity text, expected_types text[], expected_ids text[],
    expected_versions integer[], key_digests bytea[], unapproved_dates date[], approved_dates date[])
    RETURNS jsonb LANGUAGE plpgsql STABLE
    -- The events of taken keys are looked up in one partition: a plan for any would open them all.
    SET plan_cache_mode = auto AS $$
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
          -- OFFSET 0 keeps each a lookup: a plan that was made before the tables were ever analysed would go through
          -- all events of the partition for every key.
          FROM unnest(key_digests) WITH ORDINALITY AS row (key, n)
         CROSS JOIN LATERAL (SELECT * FROM mnemon.event_keys k WHERE k.tenant_id = tenant AND k.partition_id = partition
                                AND k.key = row.key AND k.expires_at > clock_timestamp() OFFSET 0) AS k
         CROSS JOIN LATERAL (SELECT * FROM mnemon.events e WHERE e.tenant_id = tenant AND e.partition_id = partition
                                AND e.sequence = k.sequence OFFSET 0) AS e;
    END IF;
    IF cardinality(expected_versions) > 0 THEN
        SELECT jsonb_agg(version ORDER BY n), bool_or(version <> expected) INTO actual, failing
          FROM (SELECT row.n, row.expected, mnemon.entity_version(tenant, partition, row.kind, row.entity) AS version
                  FROM unnest(expected_types, expected_ids, expected_versions)
                       WITH ORDINALITY AS row (kind, entity, expected, n)) AS versions;
    END IF;
    IF EXISTS (SELECT FROM mnemon.periods p WHERE p.tenant_id = tenant
                  AND p.legal_entity = refusals_of.legal_entity AND p.status <> 'open') THEN
        SELECT jsonb_agg(DISTINCT jsonb_build_object('date', day, 'name', p.name, 'status', p.status)) INTO closed
          FROM mnemon.periods p
          JOIN (SELECT unnest(unapproved_dates) AS day, true AS soft_too
                UNION ALL SELECT unnest(approved_dates), false) AS days
            ON day BETWEEN p.starts_on AND p.ends_on
         WHERE p.tenant_id = tenant AND p.legal_entity = refusals_of.legal_entity
           AND (p.status = 'hard_closed' OR p.status = 'soft_closed' AND soft_too);
    END IF;
    IF taken IS NULL AND closed IS NULL AND failing IS NOT TRUE THEN
        RETURN NULL;
    END IF;
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'keys', taken, 'versions', CASE WHEN failing THEN actual END, 'periods', closed));
END $$;

-- The first keys of people whom nothing named before, all or none: {"newcomers": [name, …]} if some of them have a key
-- by now; all of them, if the wrapping key was retired. Whoever adds the same person waits for the other to commit.
CREATE FUNCTION mnemon.admit_newcomers(tenant uuid, newcomers text[], wrapping_keys text[], wrapped_keys bytea[])
    RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO mnemon.subject_keys (tenant_id, subject_id, generation, key_id, wrapped_key)
    SELECT tenant, subject_id, 1, key_id, wrapped_key
      FROM unnest(newcomers, wrapping_keys, wrapped_keys) AS row (subject_id, key_id, wrapped_key)
     ORDER BY subject_id;
    RETURN NULL;
EXCEPTION WHEN unique_violation OR foreign_key_violation THEN
    RETURN jsonb_build_object('newcomers', (
        SELECT to_jsonb(coalesce(array_agg(DISTINCT k.subject_id::text), newcomers)) FROM mnemon.subject_keys k
         WHERE k.tenant_id = tenant AND k.subject_id = ANY (newcomers)));
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.admit_newcomers FROM PUBLIC;
-- From here on a key comes with the append that needs it, so a refused one leaves none behind.
DROP FUNCTION mnemon.add_subject_keys;

-- What it takes, promises and returns is as in step 3. Functions that return sets stand in select lists: there they
-- hand on row by row, where in FROM each of them would first fill a store of its own.
DROP FUNCTION mnemon.append_events;
CREATE FUNCTION mnemon.append_events(
    partition integer, ids text[], types text[], occurred timestamptz[], effective date[], actors text[],
    correlations text[], causes text[], envelopes text[], payloads text[], digests bytea,
    entity_events integer[], entity_types text[], entity_ids text[], entity_ranks integer[],
    label_events integer[], label_kinds text[], label_values text[],
    subject_events integer[], subject_ids text[], subject_fields text[],
    expected_types text[], expected_ids text[], expected_versions integer[],
    key_events integer[], key_digests bytea[], key_contents bytea[], key_expiries timestamptz[],
    unapproved_dates date[], approved_dates date[], newcomers text[], wrapping_keys text[], wrapped_keys bytea[],
    OUT refusals jsonb, OUT first_sequence bigint, OUT recorded_at timestamptz, OUT previous bytea, OUT hashes bytea)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    -- A plan made while the tables were small must still be right when they are not, and is not made anew each time.
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
    SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    tenant     uuid := mnemon.current_tenant();
    head       mnemon.partitions;
    link       bytea;
    chain      bytea;
    stamp      bytea;
    amount     integer := cardinality(ids);
BEGIN
    -- From here to the commit no one else can add to this partition, so what is read below stays true.
    SELECT * INTO head FROM mnemon.partitions p
     WHERE p.tenant_id = tenant AND p.partition_id = partition FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'partition % does not exist for this tenant', partition USING ERRCODE = 'no_data_found';
    END IF;

    refusals := mnemon.refusals_of(tenant, partition, head.legal_entity, expected_types, expected_ids,
        expected_versions, key_digests, unapproved_dates, approved_dates);
    IF refusals IS NULL AND cardinality(newcomers) > 0 THEN
        refusals := mnemon.admit_newcomers(tenant, newcomers, wrapping_keys, wrapped_keys);
    END IF;
    IF refusals IS NOT NULL THEN
        RETURN;
    END IF;

    -- The clock may go back; recorded time does not.
    append_events.recorded_at := greatest(clock_timestamp(), head.recorded_at);
    first_sequence := head.sequence + 1;
    previous := head.hash;
    stamp := int8send((extract(epoch FROM append_events.recorded_at) * 1000000)::bigint);
    link := head.hash;
    chain := link;
    FOR i IN 1..amount LOOP
        link := sha256('mnemon/event/1\012'::bytea || link || int8send(head.sequence + i) || stamp
                       || substring(digests FROM i * 64 - 63 FOR 64));
        chain := chain || link;
    END LOOP;
    hashes := substring(chain FROM 33);

    INSERT INTO mnemon.events (tenant_id, partition_id, sequence, id, type, occurred_at, effective_date, recorded_at,
                               actor_id, correlation_id, caused_by, envelope, payload_digest, previous_hash, hash)
    SELECT tenant, partition, head.sequence + n, id, type, occurred_at, effective_date, append_events.recorded_at,
           actor_id, correlation_id, caused_by, envelope, substring(digests FROM n * 64 - 31 FOR 32),
           substring(chain FROM n * 32 - 31 FOR 32), substring(chain FROM n * 32 + 1 FOR 32)
      FROM (SELECT generate_series(1, amount) AS n, unnest(ids) AS id, unnest(types) AS type,
                   unnest(occurred) AS occurred_at, unnest(effective) AS effective_date, unnest(actors) AS actor_id,
                   unnest(correlations) AS correlation_id, unnest(causes) AS caused_by,
                   unnest(envelopes) AS envelope) AS row;
    INSERT INTO mnemon.event_payloads (tenant_id, partition_id, sequence, payload)
    SELECT tenant, partition, head.sequence + generate_series(1, amount), unnest(payloads);
    IF cardinality(expected_versions) = 0 THEN
        INSERT INTO mnemon.event_entities (tenant_id, partition_id, version, sequence, entity_id, entity_type)
        SELECT tenant, partition, CASE WHEN mnemon.is_milestone(sequence)
                                       THEN rank + mnemon.entity_version(tenant, partition, kind, entity) END,
               sequence, entity, kind
          FROM (SELECT head.sequence + unnest(entity_events) AS sequence, unnest(entity_ids) AS entity,
                       unnest(entity_types) AS kind, unnest(entity_ranks) AS rank) AS row;
    ELSE
        INSERT INTO mnemon.event_entities (tenant_id, partition_id, version, sequence, entity_id, entity_type)
        SELECT tenant, partition,
               rank + coalesce(expected.version, CASE WHEN mnemon.is_milestone(head.sequence + event)
                                                      THEN mnemon.entity_version(tenant, partition, kind, entity) END),
               head.sequence + event, entity, kind
          FROM unnest(entity_events, entity_types, entity_ids, entity_ranks) AS row (event, kind, entity, rank)
          LEFT JOIN (SELECT DISTINCT kind, entity, version
                       FROM unnest(expected_types, expected_ids, expected_versions) AS one (kind, entity, version)
                    ) AS expected USING (kind, entity);
    END IF;
    IF cardinality(label_events) > 0 THEN
        INSERT INTO mnemon.event_labels (tenant_id, partition_id, sequence, kind, value)
        SELECT tenant, partition, head.sequence + unnest(label_events), unnest(label_kinds), unnest(label_values);
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
    UPDATE mnemon.partitions p
       SET sequence = head.sequence + amount, hash = link, recorded_at = append_events.recorded_at
     WHERE p.tenant_id = tenant AND p.legal_entity = head.legal_entity;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.append_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.append_events TO mnemon_app;
