-- The last sequence recorded by a moment; 0 if none was. Recorded time never goes back, so halving finds it.
CREATE OR REPLACE FUNCTION mnemon.sequence_at(partition integer, moment timestamptz) RETURNS bigint
    LANGUAGE plpgsql STABLE AS $$
DECLARE
    low    bigint := 0;
    high   bigint;
    middle bigint;
    found_at timestamptz;
BEGIN
    SELECT p.sequence INTO high FROM mnemon.partitions p
     WHERE p.tenant_id = mnemon.current_tenant() AND p.partition_id = partition;
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        SELECT e.recorded_at INTO found_at FROM mnemon.events e
         WHERE e.tenant_id = mnemon.current_tenant() AND e.partition_id = partition AND e.sequence = middle;
        IF found_at <= moment THEN
            low := middle;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN low;
END $$;
