"""Redaction of payloads that were stored in plain text: what it takes away, what it cannot do, what proves it."""

import importlib.util
import json
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import namedtuple_row

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.errors import InvalidRequest, NotAllowed
from mnemon.log.errors import ArchiveRefused, EventNotFound
from mnemon.log.events import Actor, EntityReference, Event, NewEvent
from mnemon.log.moments import now
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.proof.chain import digest
from mnemon.log.proof.export import export_lines
from mnemon.log.proof.verify import verify
from mnemon.log.store import EventLog

from .conftest import joined

VERIFIER = Path(__file__).parents[2] / "verify" / "mnemon_verify.py"
OPERATOR = Actor("system", "operator")
ATTESTED = "SELECT * FROM mnemon.redactions WHERE partition_id = %s AND sequence = %s ORDER BY number"
BOTH = {"reason": "legacy_data", "requested_by": "u-1", "approved_by": "u-2"}


@pytest.fixture
async def legacy(log: EventLog, tenant: UUID) -> Event:
    """An event from before fields were sealed."""
    data = {"customer_id": "c-1", "name": "Ada Lovelace", "family": [{"name": "Byron"}], "odd": "a\u0000b", "n": 1.0}
    [appended] = await log.append(tenant, [joined(data=data)])
    return await log.read_event(tenant, appended.id)


async def test_a_legacy_payload_loses_the_named_values_and_nothing_else(
    privacy: Privacy, legacy: Event, tenant: UUID
) -> None:
    attesting = await privacy.redactions.redact(
        tenant, legacy.id, ["/data/name", "/data/family/0", "/actor/name"], **BOTH
    )
    event = await privacy.log.read_event(tenant, legacy.id)
    assert event.data == {"customer_id": "c-1", "name": REDACTED, "family": [REDACTED], "odd": "a\u0000b", "n": 1.0}
    assert event.payload["actor"] == {"name": REDACTED, "ip_address": "192.0.2.7"}
    said = await privacy.log.read_event(tenant, attesting)
    assert said.type == "privacy.payload.redacted"
    assert (said.actor_id, said.envelope["approved_by"]) == ("u-1", "u-2")
    assert "Ada" not in json.dumps(said.as_json()["data"])


async def test_the_chain_still_holds_and_the_redaction_is_attested_by_digests(
    privacy: Privacy, database: Database, legacy: Event, tenant: UUID
) -> None:
    first = await privacy.redactions.redact(tenant, legacy.id, ["/data/name"], **BOTH)
    second = await privacy.redactions.redact(tenant, legacy.id, ["/data/family"], **BOTH)
    event = await privacy.log.read_event(tenant, legacy.id)
    assert (event.hash, event.payload_digest, event.envelope_text) == (
        legacy.hash,
        legacy.payload_digest,
        legacy.envelope_text,
    )
    async with database.transaction(tenant) as tx:
        kept = await tx.cursor(row_factory=namedtuple_row).execute(ATTESTED, (event.partition_id, event.sequence))
        records = await kept.fetchall()
    assert [one.attested_by for one in records] == [first, second]
    assert records[0].old_digest == event.payload_digest
    assert records[0].new_digest == records[1].old_digest
    assert records[1].new_digest == digest((event.payload_text or "").encode())
    for record in records:
        said = (await privacy.log.read_event(tenant, record.attested_by)).data
        assert (said["old_digest"], said["new_digest"]) == (record.old_digest.hex(), record.new_digest.hex())


async def test_redacting_again_changes_nothing(privacy: Privacy, legacy: Event, tenant: UUID) -> None:
    await privacy.redactions.redact(tenant, legacy.id, ["/data/name"], **BOTH)
    head = (await privacy.log.list_partitions(tenant))[0].sequence
    assert await privacy.redactions.redact(tenant, legacy.id, ["/data/name"], **BOTH) == ""
    assert (await privacy.log.list_partitions(tenant))[0].sequence == head


async def test_wrong_requests_are_refused_with_the_reason(privacy: Privacy, legacy: Event, tenant: UUID) -> None:
    redact = privacy.redactions.redact
    with pytest.raises(NotAllowed, match="a second person must"):
        await redact(tenant, legacy.id, ["/data/name"], reason="legacy_data", requested_by="u-1", approved_by="u-1")
    for field in ("/data/absent", "/data/family/7", "data.name", "/data", "/sealed/u-1", "/data/name/x"):
        with pytest.raises(InvalidRequest):
            await redact(tenant, legacy.id, [field], **BOTH)
    with pytest.raises(InvalidRequest):
        await redact(tenant, legacy.id, [], **BOTH)
    with pytest.raises(EventNotFound):
        await redact(tenant, "01ARZ3NDEKTSV4RRFFQ69G5FAV", ["/data/name"], **BOTH)
    assert (await privacy.log.list_partitions(tenant))[0].sequence == 1


async def test_an_archived_payload_is_brought_back_before_it_is_redacted(
    privacy: Privacy, legacy: Event, tenant: UUID, tmp_path: Path
) -> None:
    await privacy.archive.archive(tenant, now(), actor=OPERATOR)
    with pytest.raises(ArchiveRefused, match="mnemon log restore"):
        await privacy.redactions.redact(tenant, legacy.id, ["/data/name"], **BOTH)
    await privacy.archive.restore(tenant, actor=OPERATOR)
    await privacy.redactions.redact(tenant, legacy.id, ["/data/name"], **BOTH)
    await privacy.archive.archive(tenant, now(), actor=OPERATOR)
    assert (await privacy.log.read_event(tenant, legacy.id)).data["name"] == REDACTED


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (lambda text: text.replace("Ada Lovelace", "Mallory"), "does more than to redact"),
        (lambda text: text.replace('"c-1"', '"c-2"'), "does more than to redact"),
        (lambda text: text.replace('"n":1.0', '"n":2.0'), "does more than to redact"),
        (lambda text: text.replace('"n":1.0,', ""), "does more than to redact"),
        (lambda text: text.replace('"n":1.0', '"n":1.0,"x":1'), "does more than to redact"),
        (lambda text: text.replace('[{"name":"Byron"}]', "[]"), "does more than to redact"),
        (lambda text: text, "does more than to redact"),
    ],
)
async def test_the_one_path_cannot_be_used_to_change_anything(
    log: EventLog, legacy: Event, tenant: UUID, change: object, refusal: str
) -> None:
    forged = change(legacy.payload_text)  # type: ignore[operator]
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match=refusal):
        await apply_as_the_application(log, tenant, legacy, forged)
    assert (await log.read_event(tenant, legacy.id)).payload_text == legacy.payload_text


async def apply_as_the_application(log: EventLog, tenant: UUID, event: Event, text: str, **said: str) -> None:
    """What an attacker with the application's role could try: attest and call the function directly."""
    data = {
        "event_id": event.id,
        "sequence": str(event.sequence),
        "fields": ["/data/name"],
        "old_digest": event.payload_digest.hex(),
        "new_digest": digest(text.encode()).hex(),
        "reason": "legacy_data",
    }
    attesting = NewEvent(
        type="privacy.payload.redacted",
        data=data | said,
        actor=Actor("human", "u-1"),
        approved_by="u-2",
        entities=[EntityReference("event", event.id)],
    )
    async with log.transaction(tenant) as transaction:
        [appended] = await transaction.append([attesting])
        await transaction.connection.execute(
            "SELECT mnemon.redact_payload(%s, %s, %s, %s)", (event.partition_id, event.sequence, text, appended.id)
        )


async def test_a_redaction_that_no_event_attests_is_refused(log: EventLog, legacy: Event, tenant: UUID) -> None:
    redacted = (legacy.payload_text or "").replace("Ada Lovelace", REDACTED)
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="no event attests"):
        await apply_as_the_application(log, tenant, legacy, redacted, old_digest="0" * 64)
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="no event attests"):
        await apply_as_the_application(log, tenant, legacy, redacted, sequence="2")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="no event attests"):
        async with log.database.transaction(tenant) as tx:
            values = (legacy.partition_id, legacy.sequence, redacted, legacy.id)
            await tx.execute("SELECT mnemon.redact_payload(%s, %s, %s, %s)", values)
    await apply_as_the_application(log, tenant, legacy, redacted)
    assert (await log.read_event(tenant, legacy.id)).data["name"] == REDACTED


async def test_an_event_that_attests_a_redaction_cannot_be_redacted(
    privacy: Privacy, log: EventLog, legacy: Event, tenant: UUID
) -> None:
    """Or the payload that it speaks of could no longer be told from a forgery."""
    attesting = await privacy.redactions.redact(tenant, legacy.id, ["/data/name"], **BOTH)
    with pytest.raises(InvalidRequest, match="attests a redaction"):
        await privacy.redactions.redact(tenant, attesting, ["/data/reason"], **BOTH)
    record = await privacy.log.read_event(tenant, attesting)
    forged = (record.payload_text or "").replace("legacy_data", REDACTED)
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="stays as it is"):
        await apply_as_the_application(log, tenant, record, forged)
    assert (await verify(privacy.log.reader, tenant)).intact


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE mnemon.event_payloads SET payload = '{}' WHERE tenant_id = %s",
        "UPDATE mnemon.event_payloads SET payload = NULL WHERE tenant_id = %s",
        "UPDATE mnemon.event_payloads SET sequence = sequence + 1 WHERE tenant_id = %s",
        "DELETE FROM mnemon.event_payloads WHERE tenant_id = %s",
    ],
)
async def test_even_the_owner_cannot_change_a_payload_without_a_record(
    database: Database, legacy: Event, tenant: UUID, statement: str
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="the log only grows"):
        async with database.owner() as owner:
            await owner.execute(statement, (tenant,))


async def test_a_redaction_cannot_be_undone(privacy: Privacy, database: Database, legacy: Event, tenant: UUID) -> None:
    await privacy.redactions.redact(tenant, legacy.id, ["/data/name"], **BOTH)
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="the log only grows"):
        async with database.owner() as owner:
            await owner.execute(
                "UPDATE mnemon.event_payloads SET payload = %s WHERE tenant_id = %s AND sequence = 1",
                (legacy.payload_text, tenant),
            )


async def test_a_redacted_event_verifies_as_redacted_and_a_tampered_one_as_tampered(
    privacy: Privacy, database: Database, legacy: Event, tenant: UUID, server: EmbeddedServer
) -> None:
    await privacy.redactions.redact(tenant, legacy.id, ["/data/name"], **BOTH)
    await privacy.redactions.redact(tenant, legacy.id, ["/data/family"], **BOTH)
    report = await verify(privacy.log.reader, tenant)
    assert (report.faults, report.redacted) == ([], 1)
    assert offline_faults(await exported(privacy, tenant)) == []
    tampered = (await exported(privacy, tenant)).replace("[REDACTED]", "Mallory")
    assert offline_faults(tampered) == ["event 1: its payload is not the one that was recorded"]
    with psycopg.connect(server.cluster.conninfo("postgres"), dbname="mnemon", autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute(
            "UPDATE mnemon.event_payloads SET payload = replace(payload, '[REDACTED]', 'Mallory') "
            "WHERE tenant_id = %s AND sequence = 1",
            (tenant,),
        )
    report = await verify(privacy.log.reader, tenant)
    assert [(one.sequence, one.kind) for one in report.faults] == [(1, "payload")]


async def exported(privacy: Privacy, tenant: UUID) -> str:
    return b"".join([line async for line in export_lines(privacy.log.reader, tenant)]).decode()


def offline_faults(export: str) -> list[str]:
    spec = importlib.util.spec_from_file_location("mnemon_verify", VERIFIER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.check_export(map(json.loads, export.splitlines()), [], module.Notes()))
