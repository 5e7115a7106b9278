-- The planner keeps samples of what stands in a table; after an erasure they are drawn anew.
CREATE OR REPLACE FUNCTION mnemon.renew_memory_statistics() RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    ANALYZE mnemon.emo_branches, mnemon.emo_current, mnemon.emo_history, mnemon.emo_links, mnemon.emo_texts,
            mnemon.emo_graph_nodes, mnemon.emo_graph_edges, mnemon.memory_vectors, mnemon.memory_pending_texts;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.renew_memory_statistics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.renew_memory_statistics TO mnemon_app;
