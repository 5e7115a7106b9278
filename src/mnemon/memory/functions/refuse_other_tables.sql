-- What a rebuild may exchange: the tables of the lens, by their names, and no other.
CREATE OR REPLACE FUNCTION mnemon.refuse_other_tables(name text) RETURNS void LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF name <> ALL (ARRAY['emo_branches', 'emo_current', 'emo_history', 'emo_links', 'emo_texts', 'emo_graph_nodes',
                          'emo_graph_edges']) OR name IS NULL THEN
        RAISE EXCEPTION '% is no table of the memory lens', name USING ERRCODE = 'undefined_table';
    END IF;
END $$;
