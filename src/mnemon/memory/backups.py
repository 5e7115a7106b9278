"""What of memory stays out of a backup: all that a replay makes again, since it holds plain what the log has sealed."""

from mnemon.memory.lens import LENS, NAME

# Their rows come back by a replay, which needs the keys of the people they are about.
LEFT_OUT = (*LENS.real_tables, "memory_pending_texts")
AFTERWARDS = (f"UPDATE mnemon.lens_states SET version = 0, state_hash = NULL WHERE lens = '{NAME}'",)
# Vectors cost a model's time and are kept, but for those of texts about a person: a vector tells much of its text, and
# a digest confirms a guess. Words are counted again with the rows that hold them.
IN_PART = {
    "memory_vectors": """
        SELECT v.* FROM mnemon.memory_vectors v
         WHERE NOT EXISTS (SELECT FROM mnemon.emo_texts t JOIN mnemon.emo_current c
                                        USING (tenant_id, world_id, branch, emo_id)
                            WHERE t.tenant_id = v.tenant_id AND t.text_hash = v.text_hash
                              AND c.subject_id IS NOT NULL)""",
    "term_counts": "SELECT * FROM mnemon.term_counts WHERE kind <> 'memory'",
    "text_counts": "SELECT * FROM mnemon.text_counts WHERE kind <> 'memory'",
}
