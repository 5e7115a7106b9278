-- Turns of a talk are chunks of their own: each knows its day, where the text tells it.
ALTER TABLE mnemon.chunks ADD COLUMN said_on date;
ALTER TABLE mnemon.chunk_terms ADD COLUMN said_on date;
-- Which share of its sentences are questions: what follows a question answers it more often than the question does.
ALTER TABLE mnemon.chunk_terms ADD COLUMN asks real NOT NULL DEFAULT 0;
UPDATE mnemon.chunk_terms AS known SET asks = least(1.0, (length(chunk.text) - length(replace(chunk.text, '?', '')))
    / greatest(length(regexp_replace(chunk.text, '[^.!?]+', '', 'g')), 1)::real)
FROM mnemon.chunks AS chunk
WHERE chunk.tenant_id = known.tenant_id AND chunk.doc_version_id = known.doc_version_id
  AND chunk.ordinal = known.ordinal AND position('?' in chunk.text) > 0;
