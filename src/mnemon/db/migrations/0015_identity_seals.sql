-- Events of identity tell a digest of the row that they leave behind, so that a row changed behind the log's back shows.
-- The salt keeps the digest from telling anything about the person; with the row it is gone.
ALTER TABLE mnemon.users ADD COLUMN salt bytea NOT NULL
    DEFAULT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
