-- A rebuild's rows take the place of the old ones where the two differ. Rows that are the same, byte by byte, stay
-- where they are: most of them do, and to write them again would mean to write all of their indexes.
-- The copies are the caller's own, with whatever the caller hung on them, so they are read as the caller; what differs
-- goes to the functions of the owner as plain values. Decision 0039.
CREATE OR REPLACE FUNCTION mnemon.exchange_memory() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    tenant uuid := mnemon.current_tenant();
    tables text[] := ARRAY['emo_branches', 'emo_current', 'emo_history', 'emo_links', 'emo_texts',
                           'emo_graph_nodes', 'emo_graph_edges'];
    name   text;
    same   text;
    whole  text;
    part   jsonb;
    complete boolean;
BEGIN
    FOREACH name IN ARRAY tables LOOP
        SELECT format('record_image_eq(ROW(%s), ROW(%s))',
                      string_agg(format('c.%I', a.attname), ', ' ORDER BY a.attnum),
                      string_agg(format('t.%I', a.attname), ', ' ORDER BY a.attnum)) INTO whole
          FROM pg_attribute a
         WHERE a.attrelid = ('mnemon.' || name)::regclass AND a.attnum > 0 AND NOT a.attisdropped
           AND a.attgenerated = '';
        same := mnemon.same_key(('mnemon.' || name)::regclass);
        FOR part IN EXECUTE format(
            'SELECT jsonb_agg(key) FROM (
                 SELECT jsonb_build_object(%2$s) AS key, row_number() OVER () / 1000 AS part FROM mnemon.%1$I t
                  WHERE t.tenant_id = $1 AND NOT EXISTS (SELECT FROM pg_temp.%1$I c WHERE %3$s AND %4$s)) gone
              GROUP BY part', name, mnemon.key_as_json(('mnemon.' || name)::regclass), same, whole) USING tenant
        LOOP
            PERFORM mnemon.remove_memory_rows(name, part);
        END LOOP;
    END LOOP;
    -- Only now: what a deleted object took along is missing too. What is left is in both, so that where the numbers
    -- agree nothing is missing.
    FOREACH name IN ARRAY tables LOOP
        EXECUTE format('SELECT (SELECT count(*) FROM mnemon.%1$I WHERE tenant_id = $1)
                             = (SELECT count(*) FROM pg_temp.%1$I WHERE tenant_id = $1)', name)
            INTO complete USING tenant;
        CONTINUE WHEN complete;
        -- Few at once: an object may be large, and what is sent at once has its limit.
        FOR part IN EXECUTE format(
            'SELECT jsonb_agg(added) FROM (
                 SELECT to_jsonb(c) AS added, row_number() OVER () / 50 AS part FROM pg_temp.%1$I c
                  WHERE c.tenant_id = $1 AND NOT EXISTS (SELECT FROM mnemon.%1$I t WHERE %2$s)) missing
              GROUP BY part', name, mnemon.same_key(('mnemon.' || name)::regclass)) USING tenant
        LOOP
            PERFORM mnemon.add_memory_rows(name, part);
        END LOOP;
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.exchange_memory FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.exchange_memory TO mnemon_app;
