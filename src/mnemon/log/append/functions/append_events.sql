-- Writes events at the head of a partition, all or none, and returns what a caller needs to know of them.
--
-- Columns come as arrays, one element per row; `*_events` say which event (from 1) a side row belongs to.
-- `digests` is SHA-256(envelope) and SHA-256(payload) of each event, 64 bytes per event, end to end.
-- `newcomers` are people whom nothing named before, with their first keys.
-- If a key is taken, an entity is not at its expected version, a period is closed or a newcomer is one no more, nothing
-- is written and `refusals` lists all that was found, for the caller to leave out those events and call again.
--
-- Functions that return sets stand in select lists: there they hand on row by row, where in FROM each of them would
-- first fill a store of its own.
CREATE OR REPLACE FUNCTION mnemon.append_events(
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
    PERFORM mnemon.know_partitions();
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
