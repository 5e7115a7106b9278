-- Changes nothing, but that every process lists the partitions of a table anew: this one at once, others with their
-- next statement after the commit.
CREATE OR REPLACE FUNCTION mnemon.list_partitions_anew(parent text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    EXECUTE format('ALTER TABLE ONLY mnemon.%I ALTER COLUMN partition_id SET STATISTICS -1', parent);
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.list_partitions_anew FROM PUBLIC;
