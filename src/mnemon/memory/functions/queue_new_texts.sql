-- A text that comes into the lens and has no vector waits for one; after a rebuild none does.
CREATE OR REPLACE FUNCTION mnemon.queue_new_texts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO mnemon.memory_pending_texts (tenant_id, text_hash)
    SELECT DISTINCT n.tenant_id, n.text_hash FROM added n
     WHERE NOT EXISTS (SELECT FROM mnemon.memory_vectors v
                        WHERE v.tenant_id = n.tenant_id AND v.text_hash = n.text_hash)
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.queue_new_texts FROM PUBLIC;
