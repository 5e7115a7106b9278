-- Documents are found by a part of their names.
CREATE INDEX documents_by_letters ON mnemon.documents USING gin (mnemon.letter_keys(tenant_id, title, tags))
    WITH (fastupdate = off);
CREATE INDEX document_revisions_by_letters ON mnemon.document_revisions
    USING gin (mnemon.letter_keys(tenant_id, original_filename, '{}')) WITH (fastupdate = off);
