-- The titles of documents, each once. A list of mail has thousands of documents and few titles: the keys of a title's
-- letters took more time than all else that is written for its document.
CREATE TABLE mnemon.document_titles (
    tenant_id uuid NOT NULL,
    title_key bigint NOT NULL,
    title     text NOT NULL,
    PRIMARY KEY (tenant_id, title_key)
);
CALL mnemon.isolate_by_tenant('mnemon.document_titles');
INSERT INTO mnemon.document_titles
SELECT DISTINCT ON (tenant_id, title_key) tenant_id, hashtextextended(title, 0) AS title_key, title
  FROM mnemon.documents ORDER BY tenant_id, title_key;
CREATE INDEX document_titles_by_letters ON mnemon.document_titles
    USING gin (mnemon.letter_keys(tenant_id, title, '{}')) WITH (fastupdate = on, gin_pending_list_limit = 256);
CREATE INDEX documents_by_title ON mnemon.documents (tenant_id, hashtextextended(title, 0));
CREATE TRIGGER adds_its_title AFTER INSERT ON mnemon.documents
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION mnemon.add_titles();
CREATE TRIGGER changes_its_title AFTER UPDATE OF title ON mnemon.documents
    FOR EACH ROW WHEN (OLD.title IS DISTINCT FROM NEW.title) EXECUTE FUNCTION mnemon.change_title();
CREATE TRIGGER removes_its_title AFTER DELETE ON mnemon.documents
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION mnemon.remove_titles();

-- Few have tags, and what was not a file has no name of one.
DROP INDEX mnemon.documents_by_letters;
CREATE INDEX documents_by_letters ON mnemon.documents USING gin (mnemon.letter_keys(tenant_id, '', tags))
    WITH (fastupdate = on, gin_pending_list_limit = 256) WHERE tags <> '{}';
DROP INDEX mnemon.document_revisions_by_letters;
CREATE INDEX document_revisions_by_letters ON mnemon.document_revisions
    USING gin (mnemon.letter_keys(tenant_id, original_filename, '{}'))
    WITH (fastupdate = on, gin_pending_list_limit = 256) WHERE original_filename <> '';

-- A text of a few thousand letters stays in its row as it is: to compress it, or to cut it up and keep it
-- elsewhere, takes longer than to write it.
ALTER TABLE mnemon.revision_texts SET (toast_tuple_target = 8160);
