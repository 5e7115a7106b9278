-- A rebuild's rows take the place of the old ones where the two differ. Rows that are the same, byte by byte, stay
-- where they are: most of them do, and to write them again would mean to write all of their indexes.
CREATE OR REPLACE FUNCTION mnemon.exchange_memory() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    tenant uuid := mnemon.current_tenant();
    tables text[] := ARRAY['emo_branches', 'emo_current', 'emo_history', 'emo_links', 'emo_texts',
                           'emo_graph_nodes', 'emo_graph_edges'];
    name   text;
    same   text;
    whole  text;
    complete boolean;
BEGIN
    FOREACH name IN ARRAY tables LOOP
        -- A plain table runs no one's code when it is read.
        IF NOT EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('pg_temp.' || name) AND relkind = 'r'
                          AND relpersistence = 't' AND NOT relrowsecurity) THEN
            RAISE EXCEPTION 'there is no copy of % to exchange', name USING ERRCODE = 'undefined_table';
        END IF;
    END LOOP;
    FOREACH name IN ARRAY tables LOOP
        SELECT string_agg(format('c.%1$I = t.%1$I', a.attname), ' AND ') INTO same
          FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
         WHERE i.indrelid = ('mnemon.' || name)::regclass AND i.indisprimary;
        SELECT format('record_image_eq(ROW(%s), ROW(%s))',
                      string_agg(format('c.%I', a.attname), ', ' ORDER BY a.attnum),
                      string_agg(format('t.%I', a.attname), ', ' ORDER BY a.attnum)) INTO whole
          FROM pg_attribute a
         WHERE a.attrelid = ('mnemon.' || name)::regclass AND a.attnum > 0 AND NOT a.attisdropped
           AND a.attgenerated = '';
        EXECUTE format('DELETE FROM mnemon.%1$I t WHERE t.tenant_id = $1 AND NOT EXISTS (
                            SELECT FROM pg_temp.%1$I c WHERE %2$s AND %3$s)', name, same, whole) USING tenant;
    END LOOP;
    -- Only now: what a deleted object took along is missing too. What is left is in both, so that where the numbers
    -- agree nothing is missing.
    FOREACH name IN ARRAY tables LOOP
        EXECUTE format('SELECT (SELECT count(*) FROM mnemon.%1$I WHERE tenant_id = $1)
                             = (SELECT count(*) FROM pg_temp.%1$I WHERE tenant_id = $1)', name)
            INTO complete USING tenant;
        CONTINUE WHEN complete;
        SELECT string_agg(format('c.%1$I = t.%1$I', a.attname), ' AND ') INTO same
          FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
         WHERE i.indrelid = ('mnemon.' || name)::regclass AND i.indisprimary;
        EXECUTE format('INSERT INTO mnemon.%1$I (%2$s) SELECT %2$s FROM pg_temp.%1$I c WHERE c.tenant_id = $1
                            AND NOT EXISTS (SELECT FROM mnemon.%1$I t WHERE %3$s)', name,
                       mnemon.written_columns(('mnemon.' || name)::regclass), same) USING tenant;
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.exchange_memory FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.exchange_memory TO mnemon_app;
