-- Sees to it that this connection's server process knows the tables of all the tenant's partitions.
--
-- A process that lists the partitions of a table while one is attached may keep a list without it until the next is:
-- PostgreSQL then finds no row there and takes none, and of an event beside an unknown table of payloads it shows no
-- data. What a process has once seen it keeps, and partitions are made one after the other, so the newest speaks for
-- all.
CREATE OR REPLACE FUNCTION mnemon.know_partitions() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    known  integer := coalesce(nullif(current_setting('mnemon.known_partitions', true), '')::integer, 0);
    newest integer;
    parent text;
BEGIN
    SELECT max(p.partition_id) INTO newest FROM mnemon.partitions p WHERE p.tenant_id = mnemon.current_tenant();
    IF newest IS NULL OR newest <= known THEN
        RETURN;
    END IF;
    -- In the order in which `open_partition` locks them.
    FOREACH parent IN ARRAY ARRAY['event_payloads', 'events'] LOOP
        IF NOT mnemon.knows_partition(parent, newest) THEN
            IF pg_is_in_recovery() THEN
                -- Nothing can be changed here; the primary is read instead.
                RAISE EXCEPTION 'this connection does not know partition %', newest
                    USING ERRCODE = 'cannot_connect_now';
            END IF;
            RAISE LOG 'this process did not know the table of % of partition %: it lists them anew', parent, newest;
            PERFORM mnemon.list_partitions_anew(parent);
            IF NOT mnemon.knows_partition(parent, newest) THEN
                RAISE EXCEPTION 'partition % has no table of %', newest, parent USING ERRCODE = 'undefined_table';
            END IF;
        END IF;
    END LOOP;
    PERFORM set_config('mnemon.known_partitions', newest::text, false);
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.know_partitions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.know_partitions TO mnemon_app;
