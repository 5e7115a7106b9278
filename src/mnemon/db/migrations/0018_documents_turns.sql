-- Turns of a talk are chunks of their own: each knows its day, where the text tells it.
ALTER TABLE mnemon.chunks ADD COLUMN said_on date;
ALTER TABLE mnemon.chunk_terms ADD COLUMN said_on date;
