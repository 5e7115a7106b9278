"""What someone who owns the machine may do to the data, and what `mnemon verify` says to it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mnemon.log.proof import chain
from mnemon.log.proof.signing import public_hex

from .world import World

MALLORY = Ed25519PrivateKey.from_private_bytes(b"m" * 32)


@dataclass(frozen=True)
class Tamper:
    """A change, and what the verification must say, as a pattern over `part where message`.

    `alone`: it would hide, or be hidden by, another change of the same thing. `undo` for what outlives the database.
    """

    name: str
    do: str | Sequence[str] | Callable[[World], object]
    says: str
    alone: bool = False
    undo: str | None = None

    def apply(self, world: World) -> None:
        if callable(self.do):
            self.do(world)
            return
        for statement in [self.do] if isinstance(self.do, str) else self.do:
            assert world.sql(statement), f"{self.name} changed nothing"


def at(number: str) -> str:
    """The place of an invoice's event in the main partition."""
    return (
        "tenant_id = %(tenant)s AND sequence = (SELECT x.sequence FROM mnemon.event_entities x "
        f"WHERE x.tenant_id = %(tenant)s AND x.entity_type = 'invoice' AND x.entity_id = '{number}') "
        "AND partition_id = (SELECT y.partition_id FROM mnemon.partitions y "
        "WHERE y.tenant_id = %(tenant)s AND y.legal_entity = 'main')"
    )


def of(legal_entity: str) -> str:
    return f"tenant_id = %(tenant)s AND legal_entity = '{legal_entity}'"


def event(name: str, edit: str, number: int, says: str) -> Tamper:
    return Tamper(name, f"UPDATE mnemon.events SET {edit} WHERE {at(f'A-{number}')}", says)


def cut_tail(world: World) -> None:
    number = world.partition("cut")
    for table in ("events", "event_payloads", "event_entities", "event_labels", "event_subjects"):
        world.sql(f"DELETE FROM mnemon.{table} WHERE partition_id = {number} AND sequence > 6")
    world.sql(
        f"UPDATE mnemon.partitions p SET sequence = 6, hash = e.hash, recorded_at = e.recorded_at FROM mnemon.events e "
        f"WHERE p.partition_id = {number} AND e.partition_id = {number} AND e.sequence = 6"
    )


def drop_partition(world: World) -> None:
    number = world.partition("dropped")
    for table in ("events", "event_payloads"):
        world.sql(f"DROP TABLE mnemon.{table}_{number}")
    for table in ("event_entities", "event_labels", "event_subjects", "event_keys", "partitions"):
        world.sql(f"DELETE FROM mnemon.{table} WHERE partition_id = {number}")


def rehash(world: World) -> None:
    number = world.partition("rehashed")
    world.sql(f"UPDATE mnemon.events SET recorded_at = recorded_at - interval '1 day' WHERE partition_id = {number}")
    previous = chain.genesis(world.tenant, "rehashed")
    rows = world.superuser.execute(f"SELECT * FROM mnemon.events_{number} ORDER BY sequence").fetchall()
    for row in rows:
        digests = chain.digest(row["envelope"].encode()), row["payload_digest"]
        own = chain.link(previous, row["sequence"], row["recorded_at"], *digests)
        world.sql(
            f"UPDATE mnemon.events_{number} SET previous_hash = %(previous)s, hash = %(own)s WHERE sequence = %(n)s",
            previous=previous, own=own, n=row["sequence"],
        )  # fmt: skip
        previous = own
    world.sql(
        f"UPDATE mnemon.partitions SET hash = %(own)s, recorded_at = %(at)s WHERE partition_id = {number}",
        own=previous, at=rows[-1]["recorded_at"],
    )  # fmt: skip


def insert_beyond(world: World) -> None:
    number = world.partition("beyond")
    world.sql(
        f"INSERT INTO mnemon.events SELECT tenant_id, partition_id, sequence + 1, '7' || substr(id, 2), type, "
        f"occurred_at, effective_date, recorded_at, actor_id, correlation_id, caused_by, envelope, payload_digest, "
        f"hash, sha256('forged') FROM mnemon.events_{number} ORDER BY sequence DESC LIMIT 1"
    )


def checkpoint_lines(name: str, change: Callable[[list[str]], list[str]]) -> Callable[[World], None]:
    def do(world: World) -> None:
        file = world.mnemon.integrity.checkpoints.file_of(world.tenant, name)
        lines = change(file.read_text().splitlines(keepends=True))
        file.write_text("".join(lines)) if lines else file.unlink()

    return do


def signed_by_a_stranger(lines: list[str]) -> list[str]:
    made = []
    for line in lines:
        said = json.loads(line)
        said |= {"public_key": public_hex(MALLORY), "signature": MALLORY.sign(said["statement"].encode()).hex()}
        made.append(json.dumps(said) + "\n")
    return made


def old_seal(world: World) -> None:
    files = world.mnemon.integrity.checkpoints
    first = files.file_of(world.tenant, "old-seal").read_text().splitlines(keepends=True)[0]
    files.seal_of(world.tenant, "old-seal").write_text(first)


def files_and_rows(world: World) -> None:
    files = world.mnemon.integrity.checkpoints
    files.file_of(world.tenant, "both").unlink()
    files.seal_of(world.tenant, "both").unlink()
    for table in ("checkpoints", "seals"):
        assert world.sql(f"DELETE FROM mnemon.{table} WHERE {of('both')}")


LOG = [
    event("an event's envelope", "envelope = replace(envelope, 'user:ada', 'u')", 1, r"log main \d+ The envelope"),
    event("an event's recorded time", "recorded_at = recorded_at + interval '1 s'", 2, r"log main \d+ The envelope"),
    Tamper("a payload", f"UPDATE mnemon.event_payloads SET payload = replace(payload, 'A-3', 'A-9') WHERE {at('A-3')}",
           r"log main \d+ The payload of event \d+ is not the one"),
    Tamper("a payload taken away", f"DELETE FROM mnemon.event_payloads WHERE {at('A-4')}",
           r"log main \d+ The payload of event \d+ is neither here nor in the archive"),
    event("an event's type", "type = 'shop.invoice.void'", 5, r"log main \d+ The column id, type"),
    event("an event's actor", "actor_id = 'user:eve'", 6, r"log main \d+ The column actor_id"),
    event("when an event happened", "occurred_at = occurred_at - interval '1 h'", 7, r"log main \d+ The column occ"),
    event("an event's effective date", "effective_date = effective_date - 1", 8, r"log main \d+ The column effective"),
    event("an event's process", "correlation_id = 'elsewhere'", 9, r"log main \d+ The column id, type or corr"),
    event("an event's cause", "caused_by = 'nothing'", 10, r"log main \d+ The column actor_id or caused_by"),
    event("an event's id", "id = '7' || substr(id, 2)", 11, r"log main \d+ The column id, type"),
    event("the digest of a payload", "payload_digest = sha256('x')", 12, r"log main \d+ The payload of event"),
    event("an event's hash", "hash = sha256('x')", 13, r"log main \d+ Event \d+ does not link"),
    event("the link to the event before", "previous_hash = sha256('y')", 14, r"log main \d+ Event \d+ does not link"),
    Tamper("an event taken out of an entity's stream", f"DELETE FROM mnemon.event_entities WHERE {at('A-15')}",
           r"log main \d+ The streams of event"),
    Tamper("an event put into another stream",
           f"INSERT INTO mnemon.event_labels SELECT tenant_id, partition_id, sequence, 'tag', 'forged' "
           f"FROM mnemon.events WHERE {at('A-16')}", r"log main \d+ The streams of event"),
    Tamper("an event taken out of a tag's stream", f"DELETE FROM mnemon.event_labels WHERE {at('A-17')}",
           r"log main \d+ The streams of event"),
    Tamper("whom an event is about", f"DELETE FROM mnemon.event_subjects WHERE {at('A-18')}",
           r"log main \d+ The streams of event"),
    Tamper("which fields are about a person",
           f"UPDATE mnemon.event_subjects SET fields = '{{/data/number}}' WHERE {at('A-19')} AND subject_id = 'c-2'",
           r"log main \d+ The streams of event"),
    Tamper("an entity's version", f"UPDATE mnemon.event_entities SET version = 99 WHERE {at('after-main')}",
           r"log main \d+ invoice after-main is said to be at version 99"),
    Tamper("an event deleted", f"DELETE FROM mnemon.events WHERE {at('A-0')}",
           r"log main \d+ Before \d+, event \d+ is missing"),
    Tamper("the tail cut off and the head set back", cut_tail, "log cut 7 A checkpoint of .* attests 7 events"),
    Tamper("the head set to nothing", f"UPDATE mnemon.partitions SET sequence = 0 WHERE {of('head')}",
           "log head 1 Event 1 stands beyond"),
    Tamper("a partition dropped with all its rows", drop_partition, "log dropped 1 A checkpoint of"),
    Tamper("history hashed anew", rehash, "log rehashed 1 Between events 1 and"),
    Tamper("an event added beyond the head", insert_beyond, r"log beyond \d+ Event \d+ stands beyond"),
    Tamper("the hash of a head", f"UPDATE mnemon.partitions SET hash = sha256('x') WHERE {of('head-hash')}",
           "log head-hash .* with another hash"),
    Tamper("the time of a head",
           f"UPDATE mnemon.partitions SET recorded_at = recorded_at + interval '1 year' WHERE {of('head-time')}",
           "log_rows head-time The head says another time"),
]  # fmt: skip

SIGNED = [
    Tamper("a checkpoint file deleted", checkpoint_lines("file", lambda lines: []),
           "log file .*the file ends after 0 of 2"),
    Tamper("a checkpoint file shortened", checkpoint_lines("shortened", lambda lines: lines[:1]),
           "log shortened .*the file ends after 1 of 2"),
    Tamper("checkpoints signed with a fresh key", checkpoint_lines("stranger", signed_by_a_stranger),
           "log stranger .*which is not pinned"),
    Tamper("a seal deleted",
           lambda world: world.mnemon.integrity.checkpoints.seal_of(world.tenant, "seal").unlink(),
           "log seal .*its file is missing or an older one"),
    Tamper("an older seal put back", old_seal, "log old-seal .*its file is missing or an older one"),
    Tamper("checkpoints deleted in files and database alike", files_and_rows,
           "log both The last verification saw 2 checkpoints, now there are 0"),
    Tamper("the record of a checkpoint deleted", f"DELETE FROM mnemon.checkpoints WHERE {of('record')} AND number = 1",
           "log record .*the record of checkpoint 1 is missing"),
    Tamper("the record of a seal", f"UPDATE mnemon.seals SET digest = sha256('x') WHERE {of('seal-row')}",
           "log seal-row .*the seal in the file is not the one"),
    Tamper("the pinned key",
           "UPDATE mnemon.signing_keys SET public_key = repeat('ab', 32) WHERE tenant_id = %(tenant)s",
           "log main 0 The keys that the database has pinned"),
]  # fmt: skip

ROWS = [
    Tamper("a closed period opened", "UPDATE mnemon.periods SET status = 'open' WHERE tenant_id = %(tenant)s",
           "log_rows main period 2025-01"),
    Tamper("a period deleted", "DELETE FROM mnemon.periods WHERE tenant_id = %(tenant)s",
           "log_rows main period 2025-01", alone=True),
    Tamper("the schema of an event type",
           "UPDATE mnemon.event_types SET declaration = replace(declaration::text, 'string', 'number')::json "
           "WHERE tenant_id = %(tenant)s", "log_rows event type shop.invoice.sent"),
    Tamper("an event type added",
           "INSERT INTO mnemon.event_types SELECT tenant_id, 'shop.forged', 1, 1, declaration, registered_by, now() "
           "FROM mnemon.event_types LIMIT 1", "log_rows event type shop.forged"),
    Tamper("a business key deleted", "DELETE FROM mnemon.event_keys WHERE expires_at = 'infinity' AND " + at("A-1"),
           r"log_rows main \d+ The key of event"),
    Tamper("the content of a business key",
           "UPDATE mnemon.event_keys SET content = sha256('x') WHERE expires_at = 'infinity' AND " + at("A-2"),
           r"log_rows main \d+ The key of event"),
    Tamper("a business key added",
           "INSERT INTO mnemon.event_keys SELECT tenant_id, partition_id, sha256('x'), sha256('y'), sequence, "
           "'infinity' FROM mnemon.events WHERE " + at("A-1"), "log_rows main There are", alone=True),
    Tamper("a key of an event that is not there",
           "UPDATE mnemon.event_keys SET sequence = 9999 WHERE expires_at < 'infinity' AND " + at("A-3"),
           "log_rows main 1 keys name events that are not there"),
    Tamper("the record of a redaction deleted", "DELETE FROM mnemon.redactions WHERE tenant_id = %(tenant)s",
           "log_rows main redaction"),
    Tamper("the record of an erasure deleted", "DELETE FROM mnemon.erasures WHERE tenant_id = %(tenant)s",
           "log_rows erasure"),
    Tamper("an erased person's key put back",
           "UPDATE mnemon.subject_keys SET destroyed_at = NULL, wrapped_key = o.wrapped_key, key_id = o.key_id FROM "
           "(SELECT wrapped_key, key_id FROM mnemon.subject_keys WHERE wrapped_key IS NOT NULL LIMIT 1) AS o "
           "WHERE tenant_id = %(tenant)s AND subject_id = 'c-1'", "log_rows person c-1 They were erased"),
    Tamper("a person's key deleted",
           "DELETE FROM mnemon.subject_keys WHERE tenant_id = %(tenant)s AND subject_id = 'c-2'",
           "log_rows person c-2 Their key is gone", alone=True),
    Tamper("the result of the last verification",
           "UPDATE mnemon.verification_results SET findings = 7 WHERE tenant_id = %(tenant)s",
           "log_rows last verification Its result is not"),
]  # fmt: skip

ADA = "tenant_id = %(tenant)s AND email = 'ada@example.org'"
BOB = "tenant_id = %(tenant)s AND email = 'bob@example.org'"
PEOPLE = [
    Tamper("a user made administrator", f"UPDATE mnemon.users SET role = 'admin' WHERE {ADA}", "people user .*: role"),
    Tamper("a user's address", f"UPDATE mnemon.users SET email = 'eve@example.org' WHERE {BOB}",
           "people user .*another column", alone=True),
    Tamper("a user's name", f"UPDATE mnemon.users SET name = 'Eve' WHERE {ADA}", "people user .*another column",
           alone=True),
    Tamper("a user's password", f"UPDATE mnemon.users SET password_hash = 'x' WHERE {ADA}",
           "people user .*another column"),
    Tamper("a disabled user let in", f"UPDATE mnemon.users SET disabled_at = NULL WHERE {BOB}",
           "people user .*: disabled"),
    Tamper("a user added",
           "INSERT INTO mnemon.users (tenant_id, user_id, email, name, role) "
           "VALUES (%(tenant)s, gen_random_uuid(), 'eve@example.org', 'Eve', 'admin')",
           "people user .*No event tells that this user was added"),
    Tamper("a user deleted", f"DELETE FROM mnemon.users WHERE {BOB}", "people user .*The row of this user is gone",
           alone=True),
    Tamper("an approval that nobody gave",
           "UPDATE mnemon.approvals SET status = 'approved', decided_by = 'user:eve', decided_at = now(), "
           "expires_at = now() + interval '1 day' WHERE reason = 'late'", "people approval .*left it: given"),
    Tamper("whose an approval is", "UPDATE mnemon.approvals SET requested_by = 'user:eve' WHERE reason = 'wrong'",
           "people approval .*left it: requested_by"),
    Tamper("an approval deleted", "DELETE FROM mnemon.approvals WHERE reason = 'late'",
           "people approval .*The row of this approval is gone", alone=True),
    Tamper("a token added",
           "INSERT INTO mnemon.access_tokens (tenant_id, token_id, user_id, name, scope, secret_hash) "
           "SELECT tenant_id, gen_random_uuid(), user_id, 'eve', 'write', sha256('eve') FROM mnemon.users "
           "WHERE role = 'admin' LIMIT 1",
           "people token .*No event tells that this token was added"),
    Tamper("what a token may do", "UPDATE mnemon.access_tokens SET scope = 'write' WHERE name = 'agent'",
           "people token .*another column"),
    Tamper("how long a token lasts", "UPDATE mnemon.access_tokens SET expires_at = NULL WHERE name = 'agent'",
           "people token .*another column", alone=True),
    Tamper("whose a token is",
           "UPDATE mnemon.access_tokens SET user_id = (SELECT user_id FROM mnemon.users WHERE role = 'admin' LIMIT 1) "
           "WHERE name = 'agent'", "people token .*another column", alone=True),
    Tamper("a revoked token valid again", "UPDATE mnemon.access_tokens SET revoked_at = NULL WHERE name = 'old agent'",
           "people token .*: revoked"),
    Tamper("a token deleted", "DELETE FROM mnemon.access_tokens WHERE name = 'old agent'",
           "people token .*The row of this token is gone", alone=True),
    Tamper("a login link added",
           "INSERT INTO mnemon.login_links (secret_hash, tenant_id, user_id, expires_at) SELECT sha256('eve'), "
           "tenant_id, user_id, now() + interval '1 day' FROM mnemon.users WHERE role = 'admin' LIMIT 1",
           "people user .*A login link that no event tells of"),
    Tamper("how long a login link lasts", "UPDATE mnemon.login_links SET expires_at = now() + interval '1 year'",
           "people user .*A login link that no event tells of", alone=True),
    Tamper("what an approval is for", "UPDATE mnemon.approvals SET period = '2025-03' WHERE status = 'approved'",
           "people approval .*: period", alone=True),
    Tamper("an approval added",
           "INSERT INTO mnemon.approvals (tenant_id, approval_id, act, legal_entity, period, reason, requested_by) "
           "VALUES (%(tenant)s, gen_random_uuid(), 'periods.open', 'main', '2025-01', 'x', 'user:eve')",
           "people approval .*No event tells that this approval was added", alone=True),
    Tamper("a tenant's name", "UPDATE mnemon.tenants SET slug = 'other' WHERE tenant_id = %(tenant)s",
           "people tenant Its row is gone, or its names"),
]  # fmt: skip

MAIL_SOURCE = "tenant_id = %(tenant)s AND name = 'list'"
PLACES = [
    Tamper("what a source is read from",
           "UPDATE mnemon.document_sources SET place = 'mallory' WHERE tenant_id = %(tenant)s AND kind = 's3'",
           "places source .*is not as its last event left it"),
    Tamper("where the store of a source is",
           "UPDATE mnemon.document_sources SET endpoint = 'https://mallory.example' "
           "WHERE tenant_id = %(tenant)s AND kind = 's3'", "places source .*is not as its last event left it",
           alone=True),
    Tamper("the keys of a source",
           "UPDATE mnemon.document_sources SET sealed_keys = sha256('x') WHERE tenant_id = %(tenant)s AND kind = 's3'",
           "places source .*is not as its last event left it", alone=True),
    Tamper("what a watched folder leaves out",
           "UPDATE mnemon.document_sources SET exclude = '{}' WHERE tenant_id = %(tenant)s AND kind = 'folder'",
           "places source .*is not as its last event left it", alone=True),
    Tamper("a source paused",
           "UPDATE mnemon.document_sources SET paused = true WHERE tenant_id = %(tenant)s AND kind = 'folder'",
           "places source .*is not as its last event left it", alone=True),
    Tamper("when a source is looked at next",
           "UPDATE mnemon.document_sources SET next_sync_at = now() + interval '9 years' "
           "WHERE tenant_id = %(tenant)s AND kind = 'folder'", "places source .* is put off to", alone=True),
    Tamper("that a source of mail is looked at again",
           f"UPDATE mnemon.mail_sources SET next_check_at = NULL WHERE {MAIL_SOURCE}",
           "places source .* is put off to never", alone=True),
    Tamper("a source added",
           "INSERT INTO mnemon.document_sources (tenant_id, source_id, name, kind, place, created_by) "
           "VALUES (%(tenant)s, gen_random_uuid(), 'forged', 'folder', '/etc', 'user:eve')",
           "places source .*No event tells that this source was added"),
    Tamper("a source deleted", "DELETE FROM mnemon.document_sources WHERE tenant_id = %(tenant)s AND name = 'folder'",
           "places source .*The row of this source is gone"),
    Tamper("where a source of mail is",
           f"UPDATE mnemon.mail_sources SET location = 'https://mallory.example/a.mbox' WHERE {MAIL_SOURCE}",
           "places source .*is not as its last event left it", alone=True),
    Tamper("who may read what comes from a source of mail",
           f"UPDATE mnemon.mail_sources SET readers = '{{user:eve}}' WHERE {MAIL_SOURCE}",
           "places source .*is not as its last event left it", alone=True),
    Tamper("how often a source of mail is looked at",
           f"UPDATE mnemon.mail_sources SET every_minutes = 100000 WHERE {MAIL_SOURCE}",
           "places source .*is not as its last event left it", alone=True),
    Tamper("a source of mail added",
           "INSERT INTO mnemon.mail_sources (tenant_id, source_id, name, source_type, location, created_by) "
           "VALUES (%(tenant)s, gen_random_uuid(), 'forged', 'file', '/etc/passwd', 'operator')",
           "places source .*No event tells that this source was added", alone=True),
    Tamper("a source of mail deleted", f"DELETE FROM mnemon.mail_sources WHERE {MAIL_SOURCE}",
           "places source .*The row of this source is gone", alone=True),
    Tamper("where a webhook leads",
           "UPDATE mnemon.recipients SET sealed = sha256('x') WHERE tenant_id = %(tenant)s AND way = 'webhook'",
           "places recipient .*is not as its last event left it"),
    Tamper("what a recipient is told of",
           "UPDATE mnemon.recipients SET event_types = '{#}' WHERE tenant_id = %(tenant)s AND way = 'webhook'",
           "places recipient .*is not as its last event left it", alone=True),
    Tamper("a recipient told no more",
           "UPDATE mnemon.recipients SET paused = true WHERE tenant_id = %(tenant)s AND way = 'webhook'",
           "places recipient .*is not as its last event left it", alone=True),
    Tamper("a recipient added",
           "INSERT INTO mnemon.recipients (tenant_id, recipient_id, way, name, sealed, event_types, created_by) "
           "VALUES (%(tenant)s, gen_random_uuid(), 'webhook', 'forged', sha256('x'), '{#}', 'user:eve')",
           "places recipient .*No event tells that this recipient was added"),
    Tamper("a recipient deleted", "DELETE FROM mnemon.recipients WHERE tenant_id = %(tenant)s AND way = 'e-mail'",
           "places recipient .*The row of this recipient is gone"),
]  # fmt: skip

FIRST = [*LOG, *SIGNED, *ROWS, *PEOPLE, *PLACES]
