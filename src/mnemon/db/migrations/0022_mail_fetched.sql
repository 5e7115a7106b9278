-- An import of an archive that its source has kept already knows it from the first; the source says who may add one.
GRANT INSERT (archive_id, ingested_as, position, total) ON mnemon.mail_imports TO mnemon_app;
