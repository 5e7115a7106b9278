-- Private lists: who may read what came from a source. NULL: everyone of the tenant.
ALTER TABLE mnemon.mail_sources ADD COLUMN visibility_scope text NOT NULL DEFAULT 'org', ADD COLUMN readers text[];
ALTER TABLE mnemon.mail_imports ADD COLUMN readers text[];
ALTER TABLE mnemon.mail_archives ADD COLUMN readers text[];
ALTER TABLE mnemon.mail_messages ADD COLUMN readers text[];
ALTER TABLE mnemon.mail_threads ADD COLUMN readers text[];
GRANT INSERT (readers) ON mnemon.mail_imports TO mnemon_app;
