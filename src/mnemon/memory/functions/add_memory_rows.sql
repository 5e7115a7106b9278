-- Puts whole rows into a table of the lens, as the owner: the application role may only read it.
CREATE OR REPLACE FUNCTION mnemon.add_memory_rows(name text, rows jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    PERFORM mnemon.refuse_other_tables(name);
    EXECUTE format('INSERT INTO mnemon.%1$I (%2$s) SELECT %2$s FROM jsonb_populate_recordset(NULL::mnemon.%1$I, $1) r
                     WHERE r.tenant_id = $2', name, mnemon.written_columns(('mnemon.' || name)::regclass))
      USING rows, mnemon.current_tenant();
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.add_memory_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.add_memory_rows TO mnemon_app;
