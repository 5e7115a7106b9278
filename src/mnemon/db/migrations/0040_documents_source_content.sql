-- Which content the mark of a file stands for: what comes back is served again without being fetched only if that very
-- content was taken in.
ALTER TABLE mnemon.source_objects ADD COLUMN content_hash text;
