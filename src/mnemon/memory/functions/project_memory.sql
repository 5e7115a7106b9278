-- Writes what the projector worked out into the lens, as the owner: the application role may only read it.
CREATE OR REPLACE FUNCTION mnemon.project_memory(rows jsonb) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    SELECT mnemon.write_memory_rows(rows)
$$;
REVOKE EXECUTE ON FUNCTION mnemon.project_memory FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.project_memory TO mnemon_app;
