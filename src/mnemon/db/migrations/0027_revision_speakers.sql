-- Who speaks in which revision: a search for what somebody said looks up their revisions and reads no other's chunks.

-- The keys that a name is found by: its own, and those of its words. As with the words of chunks, no name stands in them.
CREATE FUNCTION mnemon.name_keys(tenant_id uuid, name text) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000
    RETURN ARRAY(SELECT DISTINCT mnemon.term_key(name_keys.tenant_id, part)
                 FROM unnest(regexp_split_to_array(lower(name), '\W+') || lower(name)) AS part WHERE part <> '');

CREATE TABLE mnemon.revision_speakers (
    tenant_id      uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    name_key       bigint NOT NULL,
    doc_version_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, name_key, doc_version_id)
);
CREATE INDEX revision_speakers_by_revision ON mnemon.revision_speakers (tenant_id, doc_version_id);
CALL mnemon.isolate_by_tenant('mnemon.revision_speakers');
GRANT SELECT, INSERT, DELETE ON mnemon.revision_speakers TO mnemon_app;

INSERT INTO mnemon.revision_speakers (tenant_id, name_key, doc_version_id)
SELECT DISTINCT known.tenant_id, name_key, known.doc_version_id
FROM (SELECT DISTINCT tenant_id, doc_version_id, speaker FROM mnemon.chunk_terms WHERE speaker IS NOT NULL) AS known,
    unnest(mnemon.name_keys(known.tenant_id, known.speaker)) AS name_key;
