-- Takes rows out of a table of the lens, by their primary keys, as the owner: the application role may only read it.
CREATE OR REPLACE FUNCTION mnemon.remove_memory_rows(name text, keys jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    PERFORM mnemon.refuse_other_tables(name);
    EXECUTE format('DELETE FROM mnemon.%1$I t USING jsonb_populate_recordset(NULL::mnemon.%1$I, $1) c
                     WHERE t.tenant_id = $2 AND %2$s', name, mnemon.same_key(('mnemon.' || name)::regclass))
      USING keys, mnemon.current_tenant();
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.remove_memory_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.remove_memory_rows TO mnemon_app;
