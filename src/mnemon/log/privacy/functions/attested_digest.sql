-- What SHA-256 of an event's payload must be now: as recorded, or as its last redaction left it.
CREATE OR REPLACE FUNCTION mnemon.attested_digest(tenant uuid, partition integer, place bigint) RETURNS bytea
    LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT r.new_digest FROM mnemon.redactions r
          WHERE r.tenant_id = tenant AND r.partition_id = partition AND r.sequence = place
          ORDER BY r.number DESC LIMIT 1),
        (SELECT e.payload_digest FROM mnemon.events e
          WHERE e.tenant_id = tenant AND e.partition_id = partition AND e.sequence = place))
$$;
