-- Events of sources tell a digest of the row that they leave behind, so that a row changed behind the log's back shows.
-- The salt keeps the digest from telling where a source is. A recipient's row is random enough by what it has sealed.
ALTER TABLE mnemon.document_sources ADD COLUMN salt bytea NOT NULL
    DEFAULT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
ALTER TABLE mnemon.mail_sources ADD COLUMN salt bytea NOT NULL
    DEFAULT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
