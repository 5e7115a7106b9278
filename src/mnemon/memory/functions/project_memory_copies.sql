-- Writes what the projector worked out into a rebuild's copies, as who calls it.
CREATE OR REPLACE FUNCTION mnemon.project_memory_copies(rows jsonb) RETURNS void
    LANGUAGE sql SET search_path = pg_temp, mnemon, public
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    SELECT mnemon.write_memory_rows(rows)
$$;
REVOKE EXECUTE ON FUNCTION mnemon.project_memory_copies FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.project_memory_copies TO mnemon_app;
