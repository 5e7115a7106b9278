"""Pinned keys and seals: verification starts from what was signed and by whom, and not from what is still there."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.log.errors import CheckpointRefused
from mnemon.log.events import Scope
from mnemon.log.proof.handover import rotate_signing_key
from mnemon.log.proof.integrity import Integrity
from mnemon.log.proof.pinned_keys import announce, pinned_by_log
from mnemon.log.proof.sealing import sealing
from mnemon.log.proof.signing import public_hex, signing_key
from mnemon.log.store import EventLog
from mnemon.log.types.builtin import KEY_PINNED
from mnemon.log.types.registry import Registry

from .conftest import SHOP, noted
from .test_integrity import chain_again, found, superuser

MALLORY = Ed25519PrivateKey.from_private_bytes(b"m" * 32)


@pytest.fixture
async def log(database: Database) -> AsyncIterator[EventLog]:
    async with EventLog(database, registry=Registry(database, (*SHOP, KEY_PINNED))) as opened:
        yield opened


@pytest.fixture
def integrity(log: EventLog, database: Database, home: Path) -> Integrity:
    return Integrity(database, log.reader, home, log)


@pytest.fixture
async def signed(log: EventLog, integrity: Integrity, tenant: UUID) -> UUID:
    """Six events, a checkpoint at three and at five, a seal at six."""
    for amount in (3, 2):
        await log.append(tenant, [noted(str(n)) for n in range(amount)])
        await integrity.checkpoint(tenant)
    await log.append(tenant, [noted("last")])
    await integrity.signer.sign_seal(tenant)
    return tenant


def messages(faults: list[tuple[int, str]] | object) -> str:
    return " ".join(one.message for one in faults)  # type: ignore[attr-defined]


async def test_what_no_seal_covers_is_short_and_stated(log: EventLog, integrity: Integrity, signed: UUID) -> None:
    assert (await integrity.verify(signed)).unsealed == 0
    await log.append(signed, [noted(), noted()])
    report = await integrity.verify(signed)
    assert (report.intact, report.unsealed, report.as_json()["unsealed"]) == (True, 2, "2")
    await integrity.signer.sign_seal(signed)
    assert (await integrity.verify(signed)).unsealed == 0
    assert [one.sequence for one in integrity.checkpoints.list(signed)] == [3, 5]


async def test_a_running_process_seals_what_was_added(log: EventLog, integrity: Integrity, signed: UUID) -> None:
    async with sealing(integrity, 0.01):
        await log.append(signed, [noted()])
    assert (await integrity.verify(signed)).unsealed == 0


async def test_a_receipt_needs_no_more_than_a_seal(log: EventLog, integrity: Integrity, signed: UUID) -> None:
    page = await log.read_page(signed)
    assert (await integrity.receipt(signed, page.events[-1].id)).checkpoint.sequence == 6


async def test_a_tail_cut_after_the_last_checkpoint_is_found_by_its_seal(
    integrity: Integrity, signed: UUID, server: EmbeddedServer
) -> None:
    with superuser(server) as connection:
        for table in ("events", "event_payloads"):
            connection.execute(f"DELETE FROM mnemon.{table} WHERE tenant_id = %s AND sequence > 5", (signed,))
        connection.execute(
            """UPDATE mnemon.partitions p SET sequence = 5, hash = e.hash FROM mnemon.events e
                WHERE p.tenant_id = %s AND e.tenant_id = p.tenant_id AND e.sequence = 5""",
            (signed,),
        )
    assert (6, "truncated") in found(await integrity.verify(signed))
    with pytest.raises(CheckpointRefused, match="ends at 5, but a checkpoint attests 6"):
        await integrity.signer.sign_seal(signed)


async def test_a_tail_rewritten_after_the_last_checkpoint_is_found_by_its_seal(
    integrity: Integrity, signed: UUID, server: EmbeddedServer
) -> None:
    with superuser(server) as connection:
        connection.execute(
            "UPDATE mnemon.events SET recorded_at = recorded_at + interval '1 s' WHERE tenant_id = %s AND sequence = 6",
            (signed,),
        )
        chain_again(connection, signed, 6)
    assert (6, "rewritten") in found(await integrity.verify(signed))


@pytest.mark.parametrize("left", [0, 1])
async def test_a_shortened_checkpoint_file_is_a_finding(integrity: Integrity, signed: UUID, left: int) -> None:
    file = integrity.checkpoints.file_of(signed, "main")
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:left]))
    integrity.checkpoints.seal_of(signed, "main").unlink()
    report = await integrity.verify(signed)
    assert f"the file ends after {left} of 2" in messages(report.faults)
    assert "its file is missing or an older one" in messages(report.faults)


async def test_a_deleted_checkpoint_file_is_a_finding_and_no_new_one_is_begun(
    log: EventLog, integrity: Integrity, signed: UUID
) -> None:
    integrity.checkpoints.file_of(signed, "main").unlink()
    assert "the file ends after 0 of 2" in messages((await integrity.verify(signed)).faults)
    await log.append(signed, [noted()])
    with pytest.raises(CheckpointRefused, match="has 0 checkpoints where 2 were signed"):
        await integrity.checkpoint(signed)


async def test_an_older_seal_put_back_is_a_finding(log: EventLog, integrity: Integrity, signed: UUID) -> None:
    file = integrity.checkpoints.seal_of(signed, "main")
    older = file.read_bytes()
    await log.append(signed, [noted()])
    await integrity.signer.sign_seal(signed)
    file.write_bytes(older)
    assert (7, "checkpoint") in found(await integrity.verify(signed))


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM mnemon.checkpoints WHERE tenant_id = %s AND number = 1",
        "DELETE FROM mnemon.checkpoints WHERE tenant_id = %s",
        "UPDATE mnemon.checkpoints SET digest = sha256('x') WHERE tenant_id = %s AND number = 2",
        "UPDATE mnemon.seals SET digest = sha256('x') WHERE tenant_id = %s",
        "UPDATE mnemon.seals SET sequence = 99 WHERE tenant_id = %s",
        "DELETE FROM mnemon.signing_keys WHERE tenant_id = %s",
        "UPDATE mnemon.signing_keys SET public_key = repeat('ab', 32) WHERE tenant_id = %s",
    ],
)
async def test_a_changed_record_of_what_was_signed_is_a_finding(
    log: EventLog, integrity: Integrity, signed: UUID, server: EmbeddedServer, statement: str
) -> None:
    await announce(log, signed)
    assert (await integrity.verify(signed)).intact
    with superuser(server) as connection:
        assert connection.execute(statement, (signed,)).rowcount
    assert not (await integrity.verify(signed)).intact


async def test_a_dropped_partition_is_a_finding(
    log: EventLog, integrity: Integrity, signed: UUID, server: EmbeddedServer
) -> None:
    await log.append(signed, [noted(scope=Scope("DE"))])
    await integrity.checkpoint(signed, "DE")
    [number] = [one.partition_id for one in await log.list_partitions(signed) if one.legal_entity == "DE"]
    with superuser(server) as connection:
        for table in ("events", "event_payloads"):
            connection.execute(f"DROP TABLE mnemon.{table}_{number}")
        connection.execute("DELETE FROM mnemon.partitions WHERE partition_id = %s", (number,))
    assert await integrity.legal_entities(signed) == ["DE", "main"]
    assert (1, "truncated") in found(await integrity.verify(signed, "DE"))
    integrity.checkpoints.file_of(signed, "DE").unlink()
    assert await integrity.legal_entities(signed) == ["DE", "main"]
    assert not (await integrity.verify(signed, "DE")).intact


async def test_a_head_that_was_set_back_to_nothing_is_a_finding(
    integrity: Integrity, signed: UUID, server: EmbeddedServer
) -> None:
    with superuser(server) as connection:
        connection.execute("UPDATE mnemon.partitions SET sequence = 0 WHERE tenant_id = %s", (signed,))
    assert await integrity.legal_entities(signed) == ["main"]
    assert {(1, "head"), (1, "truncated")} <= found(await integrity.verify(signed))


def signed_again(integrity: Integrity, tenant: UUID, key: Ed25519PrivateKey) -> None:
    """What a forger does who has the files but not the key."""
    for file in (integrity.checkpoints.file_of(tenant, "main"), integrity.checkpoints.seal_of(tenant, "main")):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            line |= {"public_key": public_hex(key), "signature": key.sign(line["statement"].encode()).hex()}
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))


async def test_checkpoints_signed_with_a_fresh_key_are_a_finding(integrity: Integrity, signed: UUID) -> None:
    signed_again(integrity, signed, MALLORY)
    report = await integrity.verify(signed)
    assert f"signed with {public_hex(MALLORY)}, which is not pinned" in messages(report.faults)


async def test_a_fresh_key_in_the_home_signs_nothing(
    log: EventLog, integrity: Integrity, signed: UUID, home: Path
) -> None:
    (home / "keys" / "checkpoint.key").unlink()
    signing_key(home)
    await log.append(signed, [noted()])
    with pytest.raises(CheckpointRefused, match="is pinned and announced no other"):
        await integrity.checkpoint(signed)


async def test_a_change_of_key_is_an_event_that_the_old_key_signed(
    log: EventLog, integrity: Integrity, signed: UUID, home: Path
) -> None:
    await announce(log, signed)
    old, new = integrity.public_key, rotate_signing_key(home)
    await integrity.checkpoint(signed)
    assert await announce(log, signed) == 1
    assert await announce(log, signed) == 0
    pinned = await pinned_by_log(log.reader, signed)
    assert [one.public_key for one in pinned] == [old, new]
    assert pinned[1].handover is not None
    assert pinned[1].handover.public_key == old
    assert pinned[1].handover.holds
    assert (await integrity.verify(signed)).intact


async def test_a_key_that_nobody_announced_is_taken_in_by_hand_and_stays_a_finding_until_someone_was_told_it(
    log: EventLog, integrity: Integrity, database: Database, signed: UUID, home: Path
) -> None:
    await announce(log, signed)
    old = integrity.public_key
    (home / "keys" / "checkpoint.key").unlink()
    assert await integrity.adopt_key(signed)
    assert not await integrity.adopt_key(signed)
    await integrity.checkpoint(signed)
    faults = (await integrity.verify(signed)).faults
    assert f"took the place of {old} without its word" in messages(faults)
    told = Integrity(database, log.reader, home, log, integrity.public_key)
    assert {one.kind for one in (await told.verify(signed)).faults} <= {"checkpoint"}


@pytest.mark.parametrize(
    ("key", "intact"), [(lambda one: one.public_key, True), (lambda one: public_hex(MALLORY), False)]
)
async def test_the_key_that_one_was_told_must_be_pinned(
    log: EventLog, integrity: Integrity, database: Database, signed: UUID, home: Path,
    key: Callable[[Integrity], str], intact: bool,
) -> None:  # fmt: skip
    told = Integrity(database, log.reader, home, log, key(integrity))
    assert (await told.verify(signed)).intact is intact
