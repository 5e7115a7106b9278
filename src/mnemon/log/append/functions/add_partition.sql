-- Adds the table of a partition to one of the log's. ATTACH blocks neither readers nor writers of other partitions;
-- CREATE TABLE … PARTITION OF would.
CREATE OR REPLACE PROCEDURE mnemon.add_partition(parent text, partition_id integer)
    LANGUAGE plpgsql AS $$
DECLARE
    child text := format('mnemon.%I', parent || '_' || partition_id);
BEGIN
    EXECUTE format('CREATE TABLE %s (LIKE mnemon.%I INCLUDING ALL)', child, parent);
    EXECUTE format('ALTER TABLE mnemon.%I ATTACH PARTITION %s FOR VALUES IN (%s)', parent, child, partition_id);
    EXECUTE format('CREATE TRIGGER is_never_emptied BEFORE TRUNCATE ON %s EXECUTE FUNCTION mnemon.refuse_change()',
                   child);
END $$;
REVOKE EXECUTE ON PROCEDURE mnemon.add_partition FROM PUBLIC;
