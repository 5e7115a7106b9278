-- The partition of a legal entity of the current tenant, made if it is new and the tenant has fewer than `most`.
CREATE OR REPLACE FUNCTION mnemon.open_partition(
    wanted text, most integer, OUT partition_id integer, OUT created boolean)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := mnemon.current_tenant();
    made   bigint := hashtextextended(format('partition of %s %s', tenant, wanted), 0);
BEGIN
    IF tenant IS NULL THEN
        RAISE EXCEPTION 'no tenant is set' USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT p.partition_id INTO open_partition.partition_id
      FROM mnemon.partitions p WHERE p.tenant_id = tenant AND p.legal_entity = wanted;
    created := NOT FOUND;
    -- A transaction can be seen a moment before its new tables are known to all: whoever made it holds this until then.
    IF NOT created THEN
        PERFORM pg_advisory_lock_shared(made), pg_advisory_unlock_shared(made);
    ELSE
        -- One after the other: many at once would each find room for one, and `know_partitions` takes the newest for
        -- all.
        PERFORM pg_advisory_xact_lock(hashtextextended('partitions', 0)), pg_advisory_xact_lock(made);
        IF (SELECT count(*) FROM mnemon.partitions p WHERE p.tenant_id = tenant) >= most THEN
            RAISE EXCEPTION '% legal entities', most USING ERRCODE = 'configuration_limit_exceeded';
        END IF;
        INSERT INTO mnemon.partitions AS p (tenant_id, legal_entity, hash)
        VALUES (tenant, wanted, sha256(convert_to(format(E'mnemon/genesis/1\n%s\n%s', tenant, wanted), 'UTF8')))
        ON CONFLICT DO NOTHING
        RETURNING p.partition_id INTO open_partition.partition_id;
        IF NOT FOUND THEN  -- someone else made it while we waited for their commit
            SELECT p.partition_id, false INTO open_partition.partition_id, created
              FROM mnemon.partitions p WHERE p.tenant_id = tenant AND p.legal_entity = wanted;
            RETURN;
        END IF;
        -- The events last: whoever is told of their table knows the one of their payloads.
        CALL mnemon.add_partition('event_payloads', open_partition.partition_id);
        CALL mnemon.add_partition('events', open_partition.partition_id);
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.open_partition FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.open_partition TO mnemon_app;
