-- A sealed payload cannot be compressed, and to cut it up and keep it elsewhere takes longer than to write it: what fits
-- a page stays in its row. The tables of new partitions are made so.
DO $$
DECLARE
    part regclass;
BEGIN
    FOR part IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'mnemon.event_payloads'::regclass LOOP
        EXECUTE format('ALTER TABLE %s SET (toast_tuple_target = 8160)', part);
    END LOOP;
END $$;
