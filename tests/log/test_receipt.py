"""Receipts and exports of events that were redacted, archived or erased: an outsider can still check them."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.log.errors import CheckpointRefused, NothingToAttest
from mnemon.log.events import Actor, Event
from mnemon.log.moments import now
from mnemon.log.privacy.archive_store import DirectoryStore
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.proof.integrity import Integrity
from mnemon.log.store import EventLog

from .conftest import joined, noted
from .offline import run

OPERATOR = Actor("system", "operator")
HOLDS_REDACTED = (0, "all holds (1 payload is redacted since: 2)\n")
BOTH = {"reason": "legacy_data", "requested_by": "u-1", "approved_by": "u-2"}


@pytest.fixture
def integrity(privacy: Privacy, database: Database, home: Path) -> Integrity:
    return Integrity(database, privacy.log.reader, home)


@pytest.fixture
async def legacy(log: EventLog, tenant: UUID) -> Event:
    """An event from before fields were sealed, with others around it."""
    await log.append(tenant, [noted("before")])
    data = {"customer_id": "c-1", "name": "Ada Lovelace", "family": [{"name": "Byron"}]}
    [appended] = await log.append(tenant, [joined(data=data)])
    await log.append(tenant, [noted("after")])
    return await log.read_event(tenant, appended.id)


async def checked_receipt(integrity: Integrity, tenant: UUID, event_id: str, home: Path) -> tuple[int, str]:
    """What the stand-alone verifier says of a receipt."""
    receipt = await integrity.receipt(tenant, event_id)
    return checked(receipt.as_json(), home, receipt.checkpoint.public_key)


def checked(receipt: dict[str, Any], home: Path, key: str) -> tuple[int, str]:
    (home / "receipt.json").write_text(json.dumps(receipt))
    return run("receipt", home / "receipt.json", "--key", key)


async def checked_export(integrity: Integrity, tenant: UUID, home: Path) -> tuple[int, str]:
    (home / "export.jsonl").write_bytes(b"".join([line async for line in integrity.export(tenant)]))
    signed = await integrity.checkpoint(tenant)
    checkpoints = integrity.checkpoints.file_of(tenant, "main")
    return run("export", home / "export.jsonl", "--checkpoints", checkpoints, "--key", signed.public_key)


async def test_the_receipt_of_a_redacted_event_carries_what_attests_the_redaction(
    privacy: Privacy, integrity: Integrity, legacy: Event, tenant: UUID, home: Path
) -> None:
    first = await privacy.redactions.redact(tenant, legacy.id, ["/data/name"], **BOTH)
    second = await privacy.redactions.redact(tenant, legacy.id, ["/data/family"], **BOTH)
    await integrity.checkpoint(tenant)
    receipt = await integrity.receipt(tenant, legacy.id)
    assert [one.event.id for one in receipt.redactions] == [first, second]
    assert "Lovelace" not in json.dumps(receipt.as_json())
    assert await checked_receipt(integrity, tenant, legacy.id, home) == HOLDS_REDACTED


async def test_a_checkpoint_from_before_the_redaction_is_not_enough_for_a_receipt(
    privacy: Privacy, integrity: Integrity, legacy: Event, tenant: UUID, home: Path
) -> None:
    await integrity.checkpoint(tenant)
    await privacy.redactions.redact(tenant, legacy.id, ["/data/name"], **BOTH)
    with pytest.raises(NothingToAttest):
        await integrity.receipt(tenant, legacy.id)
    await integrity.checkpoint(tenant)
    assert await checked_receipt(integrity, tenant, legacy.id, home) == HOLDS_REDACTED


@pytest.mark.parametrize(
    "forge",
    [
        lambda one: one.pop("redactions"),
        lambda one: one["redactions"].pop(0),
        lambda one: one["redactions"].reverse(),
        lambda one: one["redactions"][0]["path"].reverse(),
        lambda one: one["redactions"][0]["event"].update(hash="00" * 32),
        lambda one: one["event"].update(payload=one["event"]["payload"].replace("[REDACTED]", "Mallory")),
        lambda one: one["redactions"][1]["event"].update(
            payload=one["redactions"][1]["event"]["payload"].replace('"new_digest":"', '"new_digest":"00')
        ),
    ],
)
async def test_a_forged_redaction_in_a_receipt_is_refused(
    privacy: Privacy, integrity: Integrity, legacy: Event, tenant: UUID, home: Path, forge: Any
) -> None:
    await privacy.redactions.redact(tenant, legacy.id, ["/data/name"], **BOTH)
    await privacy.redactions.redact(tenant, legacy.id, ["/data/family"], **BOTH)
    await integrity.checkpoint(tenant)
    receipt = (await integrity.receipt(tenant, legacy.id)).as_json()
    before = json.dumps(receipt)
    forge(receipt)
    assert json.dumps(receipt) != before
    assert checked(receipt, home, receipt["checkpoint"]["public_key"])[0] == 1


async def test_no_receipt_is_made_for_a_payload_that_nothing_attests(
    integrity: Integrity, legacy: Event, tenant: UUID, server: EmbeddedServer
) -> None:
    await integrity.checkpoint(tenant)
    with psycopg.connect(server.cluster.conninfo("postgres"), dbname="mnemon", autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute(
            "UPDATE mnemon.event_payloads SET payload = replace(payload, 'Ada', 'Eve') WHERE tenant_id = %s", (tenant,)
        )
    with pytest.raises(CheckpointRefused, match="run verify"):
        await integrity.receipt(tenant, legacy.id)


async def test_archived_payloads_are_in_receipts_and_exports(
    privacy: Privacy, integrity: Integrity, legacy: Event, tenant: UUID, home: Path
) -> None:
    await privacy.redactions.redact(tenant, legacy.id, ["/data/name"], **BOTH)
    await privacy.archive.archive(tenant, now(), actor=OPERATOR)
    await integrity.checkpoint(tenant)
    receipt = await integrity.receipt(tenant, legacy.id)
    assert "Byron" in (receipt.proven.event.payload_text or "")
    assert await checked_receipt(integrity, tenant, legacy.id, home) == HOLDS_REDACTED
    assert await checked_export(integrity, tenant, home) == HOLDS_REDACTED


async def test_an_export_without_the_archive_says_that_only_the_digests_are_there(
    privacy: Privacy, integrity: Integrity, legacy: Event, tenant: UUID, home: Path, tmp_path: Path
) -> None:
    [stored] = await privacy.archive.archive(tenant, now(), actor=OPERATOR)
    await DirectoryStore(tmp_path / "archive").delete(stored.object_key)
    status, output = await checked_export(integrity, tenant, home)
    assert (status, output) == (0, "all holds (3 payloads are not in the file, only the digest: 1, 2, 3)\n")
    assert (await checked_receipt(integrity, tenant, legacy.id, home))[1].startswith("all holds (1 payload is not")


async def test_the_receipt_of_an_erased_event_still_verifies(
    privacy: Privacy, integrity: Integrity, tenant: UUID, home: Path
) -> None:
    [appended] = await privacy.log.append(tenant, [joined("c-9", "Grace Hopper")])
    await integrity.checkpoint(tenant)
    asked = await privacy.erasures.request(tenant, "c-9", reason="subject_request", requested_by="u-1")
    await privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-2")
    assert (await privacy.log.read_event(tenant, appended.id)).data["name"] == "[REDACTED]"
    assert await checked_receipt(integrity, tenant, appended.id, home) == (0, "all holds\n")
    assert await checked_export(integrity, tenant, home) == (0, "all holds\n")
