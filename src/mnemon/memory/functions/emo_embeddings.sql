-- The vectors of the texts that hold now.
CREATE OR REPLACE VIEW mnemon.emo_embeddings WITH (security_invoker = true) AS
SELECT t.tenant_id, t.world_id, t.branch, t.emo_id, t.emo_version, t.kind, t.name, v.model_id,
       vector_dims(v.embedding) AS embed_dim, v.embedding AS embedding_vector
  FROM mnemon.emo_texts t JOIN mnemon.memory_vectors v ON v.tenant_id = t.tenant_id AND v.text_hash = t.text_hash
 WHERE t.until = 9223372036854775807;
GRANT SELECT ON mnemon.emo_embeddings TO mnemon_app;
