"""What someone who owns the machine changes after the storm, all at once, and what `mnemon verify` must say to each."""

from mnemon.verification.run import verify_everything
from tests.verification.tampers import Tamper, of
from tests.verification.test_tampers import unnoticed
from tests.verification.world import World


def at(sequence: int) -> str:
    return (
        f"tenant_id = %(tenant)s AND sequence = {sequence} AND partition_id = "
        f"(SELECT p.partition_id FROM mnemon.partitions p WHERE {of('main')})"
    )


def event(name: str, sequence: int, edit: str) -> Tamper:
    return Tamper(name, f"UPDATE mnemon.events SET {edit} WHERE {at(sequence)}", f"log main {sequence} ")


# In the first events, which every tenant has.
CHANGES = [
    event("an envelope", 1, "envelope = envelope || ' '"),
    Tamper("a payload", f"UPDATE mnemon.event_payloads SET payload = payload || ' ' WHERE {at(2)}", "log main 2 "),
    event("a moment", 3, "recorded_at = recorded_at + interval '1 second'"),
    event("an actor", 4, "actor_id = 'user:eve'"),
    event("a digest", 5, "payload_digest = sha256(payload_digest)"),
    event("a hash", 6, "hash = sha256(hash)"),
    Tamper("a stream", f"DELETE FROM mnemon.event_entities WHERE {at(7)}", "log main 7 The streams"),
    Tamper("the head", f"UPDATE mnemon.partitions SET hash = sha256(hash) WHERE {of('main')}",
           "log main .* with another hash"),
    Tamper("a checkpoint file",
           lambda world: world.mnemon.integrity.checkpoints.file_of(world.tenant, "main").unlink(),
           "log main .*the file ends after 0 of"),
    Tamper("an event type",
           "UPDATE mnemon.event_types SET declaration = replace(declaration::text, 'string', 'number')::json "
           "WHERE tenant_id = %(tenant)s", "log_rows event type storm.unit.counted"),
    Tamper("a user", "UPDATE mnemon.users SET password_hash = 'x' WHERE tenant_id = %(tenant)s", "people user"),
    Tamper("a token added",
           "INSERT INTO mnemon.access_tokens (tenant_id, token_id, user_id, name, scope, secret_hash) "
           "SELECT tenant_id, gen_random_uuid(), user_id, 'eve', 'write', sha256('eve') FROM mnemon.users "
           "WHERE tenant_id = %(tenant)s LIMIT 1", "people token .*No event tells"),
    Tamper("a text added",
           "INSERT INTO mnemon.revision_texts (tenant_id, doc_version_id, text) "
           "VALUES (%(tenant)s, gen_random_uuid(), 'forged')", "content revision .*that the log does not know"),
    Tamper("a semantic event added",
           "INSERT INTO mnemon.extractions (tenant_id, extraction_id, doc_version_id, doc_id, engine, events, "
           "unproven, extracted_at) VALUES (%(tenant)s, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), "
           "'rules', 1, 0, now())", "lenses lens semantic"),
    Tamper("row-level security", "ALTER TABLE mnemon.documents DISABLE ROW LEVEL SECURITY",
           "guards table documents It was changed"),
]  # fmt: skip
# Where there are documents: a storm on a slow machine may have taken in none.
OF_DOCUMENTS = [
    Tamper("a text", "UPDATE mnemon.revision_texts SET text = replace(text, 'agreed', 'disagreed') "
           "WHERE doc_version_id = (SELECT r.doc_version_id FROM mnemon.document_revisions r "
           "JOIN mnemon.revision_texts USING (doc_version_id) WHERE r.tenant_id = %(tenant)s LIMIT 1)",
           "content revision .*is not the one that was hashed"),
    Tamper("a title", "UPDATE mnemon.documents SET title = 'Other' WHERE tenant_id = %(tenant)s",
           "lenses lens documents"),
]  # fmt: skip


async def tampered(world: World, *, documents: bool) -> tuple[int, list[str]]:
    """How many changes were made, and those that went unnoticed."""
    changes = [*CHANGES, *(OF_DOCUMENTS if documents else [])]
    for one in changes:
        one.apply(world)
    report = await verify_everything(world.mnemon, world.tenant, record=False)
    return len(changes), unnoticed(changes, report.findings)
