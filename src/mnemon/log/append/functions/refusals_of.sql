-- What speaks against an append, NULL if nothing does:
--   {"versions": [actual, …]}   one per expectation, if any of them fails
--   {"keys": {"n": {…}}}        the original of each key that is taken, by its place (from 1)
--   {"periods": [{…}]}          each date that falls in a closed period
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
REVOKE EXECUTE ON FUNCTION mnemon.refusals_of FROM PUBLIC;
