"""Tampers with files, texts and lenses."""

from .tampers import Tamper
from .world import TEXT, World

OF_LONG = (
    "tenant_id = %(tenant)s AND ordinal = 1 AND doc_version_id IN "
    "(SELECT t.doc_version_id FROM mnemon.revision_texts t WHERE octet_length(t.text) > 50000)"
)


def blob_of(world: World) -> object:
    [blob] = [one for one in world.mnemon.files.blobs.glob("*/??/*") if one.read_text() == TEXT]
    return blob


CONTENT = [
    Tamper("a stored file", lambda world: blob_of(world).write_text("something else"),  # type: ignore[attr-defined]
           "content file .*was changed"),
    Tamper("a stored file deleted", lambda world: blob_of(world).unlink(),  # type: ignore[attr-defined]
           "content file .*is missing", alone=True),
    Tamper("the text of a revision",
           "UPDATE mnemon.revision_texts SET text = replace(text, 'Friday', 'Monday') WHERE tenant_id = %(tenant)s",
           "content revision .*is not the one that was hashed"),
    Tamper("the text of a revision deleted", "DELETE FROM mnemon.revision_texts WHERE tenant_id = %(tenant)s",
           "content revision .*Its text is missing", alone=True),
    Tamper("the text of a chunk",
           "UPDATE mnemon.chunks SET text = replace(text, 'Friday', 'Monday') WHERE tenant_id = %(tenant)s",
           "content revision .*chunks are not what its text says", alone=True),
    Tamper("where a passage stands",
           "UPDATE mnemon.chunks SET start_offset = 0, end_offset = 3, text = '# P' WHERE tenant_id = %(tenant)s",
           "content revision .*Words of it are in none", alone=True),
    Tamper("the text of a chunk of a long file", f"UPDATE mnemon.chunks SET text = reverse(text) WHERE {OF_LONG}",
           "content revision .*1 of its chunks are not what its text says", alone=True),
    Tamper("where a passage of a long file stands",
           f"UPDATE mnemon.chunks SET start_offset = 0, end_offset = 3, text = '# D' WHERE {OF_LONG}",
           "content revision .*Words of it are in none", alone=True),
    Tamper("a chunk deleted", "DELETE FROM mnemon.chunks WHERE tenant_id = %(tenant)s AND ordinal = 0",
           r"content revision .*It has \d+ chunks where"),
    Tamper("a text that no document has",
           "INSERT INTO mnemon.revision_texts (tenant_id, doc_version_id, text) "
           "VALUES (%(tenant)s, gen_random_uuid(), 'forged')",
           "content revision .*text of a revision that the log does not know"),
]  # fmt: skip

LENSES = [
    Tamper("a document's title", "UPDATE mnemon.documents SET title = 'Other' WHERE tenant_id = %(tenant)s",
           "lenses lens documents"),
    Tamper("who may read a document",
           "UPDATE mnemon.documents SET readers = ARRAY[owner, 'user:eve'] WHERE tenant_id = %(tenant)s",
           "lenses lens documents", alone=True),
    Tamper("the hash of a revision's text",
           "UPDATE mnemon.document_revisions SET text_hash = content_hash || '0' WHERE tenant_id = %(tenant)s",
           "lenses lens documents", alone=True),
    Tamper("a document deleted", "DELETE FROM mnemon.documents WHERE tenant_id = %(tenant)s",
           "lenses lens documents", alone=True),
    Tamper("a memory object",
           "UPDATE mnemon.emo_current SET content = 'The key is at the bank.' WHERE tenant_id = %(tenant)s",
           "lenses lens memory"),
    Tamper("the history of a memory object",
           "UPDATE mnemon.emo_history SET updated_by = 'user:eve' WHERE tenant_id = %(tenant)s",
           "lenses lens memory", alone=True),
    Tamper("a semantic event added",
           "INSERT INTO mnemon.extractions (tenant_id, extraction_id, doc_version_id, doc_id, engine, events, "
           "unproven, extracted_at) VALUES (%(tenant)s, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), "
           "'rules', 1, 0, "
           "now())", "lenses lens semantic"),
    Tamper("the snapshot of an entity",
           """UPDATE mnemon.entity_snapshots SET state = '{"number": "A-99"}' WHERE tenant_id = %(tenant)s""",
           "snapshots invoice A-1 Its snapshot"),
]  # fmt: skip
