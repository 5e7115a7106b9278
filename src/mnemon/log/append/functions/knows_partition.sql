-- Whether this connection's server process would look into the table of a partition: its plan says so.
CREATE OR REPLACE FUNCTION mnemon.knows_partition(parent text, partition_id integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    plan text;
BEGIN
    EXECUTE format('EXPLAIN (FORMAT json) SELECT FROM mnemon.%I WHERE partition_id = %L', parent, partition_id)
       INTO plan;
    RETURN position(format('"%s_%s"', parent, partition_id) IN plan) > 0;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.knows_partition FROM PUBLIC;
