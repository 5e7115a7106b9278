-- Adds the table of a partition to one of the log's. ATTACH blocks neither readers nor writers of other partitions;
-- CREATE TABLE … PARTITION OF would. A payload that fits a page stays in its row: sealed, it cannot be compressed.
CREATE OR REPLACE PROCEDURE mnemon.add_partition(parent text, partition_id integer)
    LANGUAGE plpgsql AS $$
DECLARE
    child text := format('mnemon.%I', parent || '_' || partition_id);
BEGIN
    EXECUTE format('CREATE TABLE %s (LIKE mnemon.%I INCLUDING ALL)', child, parent);
    IF parent = 'event_payloads' THEN
        EXECUTE format('ALTER TABLE %s SET (toast_tuple_target = 8160)', child);
    END IF;
    EXECUTE format('ALTER TABLE mnemon.%I ATTACH PARTITION %s FOR VALUES IN (%s)', parent, child, partition_id);
    EXECUTE format('CREATE TRIGGER is_never_emptied BEFORE TRUNCATE ON %s EXECUTE FUNCTION mnemon.refuse_change()',
                   child);
END $$;
REVOKE EXECUTE ON PROCEDURE mnemon.add_partition FROM PUBLIC;
