-- How many events an entity has had. It walks back to the last row with a version: that of the last event that
-- expected one, or of the last milestone.
CREATE OR REPLACE FUNCTION mnemon.entity_version(tenant uuid, partition integer, kind text, entity text) RETURNS integer
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
