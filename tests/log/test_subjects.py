"""The keys of people: made once, kept shortly, never made again."""

import asyncio
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from mnemon.db.database import Database
from mnemon.log.privacy import Privacy
from mnemon.log.subjects import UNWRAPPED, SubjectKeys
from mnemon.log.wrapping_keys import KeyRing

from .conftest import joined, open_private


def unwrapped() -> float:
    return float(UNWRAPPED._value.get())


async def test_two_processes_that_meet_someone_at_once_agree_on_the_key(
    database: Database, ring: KeyRing, tenant: UUID
) -> None:
    first, second = SubjectKeys(database, ring), SubjectKeys(database, ring)
    names = [f"p-{n}" for n in range(20)]
    ours, theirs = await asyncio.gather(first.to_seal_with(tenant, names), second.to_seal_with(tenant, names))
    for name in names:
        here, there = ours[name].living, theirs[name].living
        assert here is not None
        assert there is not None
        closed = here.cipher.encrypt(b"0" * 12, b"text", None)
        assert there.cipher.decrypt(b"0" * 12, closed, None) == b"text"
    await first.close()
    await second.close()


async def test_a_key_is_unwrapped_once_while_it_is_remembered(database: Database, ring: KeyRing, tenant: UUID) -> None:
    maker, keys = SubjectKeys(database, ring), SubjectKeys(database, ring)
    await maker.to_seal_with(tenant, ["p-1"])
    before = unwrapped()
    for _ in range(3):
        await keys.of(tenant, ["p-1"])
    assert unwrapped() == before + 1
    keys.forget(tenant, ["p-1"])
    await keys.of(tenant, ["p-1"])
    assert unwrapped() == before + 2
    await maker.close()
    await keys.close()


async def test_memory_is_bounded_in_number_and_in_time(database: Database, ring: KeyRing, tenant: UUID) -> None:
    keys = SubjectKeys(database, ring, most=10)
    await keys.to_seal_with(tenant, [f"p-{n}" for n in range(50)])
    assert len(keys._memory) == 10
    brief = SubjectKeys(database, ring, seconds=0)
    await brief.of(tenant, ["p-1"])
    before = unwrapped()
    await brief.of(tenant, ["p-1"])
    assert unwrapped() == before + 1
    await keys.close()
    await brief.close()


async def test_many_open_transactions_can_still_look_keys_up(
    database: Database, ring: KeyRing, tenant: UUID, tmp_path: Path
) -> None:
    """More callers than the pool has connections, each holding one while it meets someone new."""
    privacy = open_private(database, ring, tmp_path)
    await privacy.log.append(tenant, [joined("first")])

    async def one(number: int) -> None:
        async with privacy.log.transaction(tenant) as transaction:
            await transaction.append([joined(f"c-{number}")])

    await asyncio.wait_for(asyncio.gather(*(one(number) for number in range(25))), 15)
    assert (await privacy.log.list_partitions(tenant))[0].sequence == 26
    await privacy.close()


async def test_the_keys_of_one_tenant_are_not_anothers(
    database: Database, ring: KeyRing, tenant: UUID, other_tenant: UUID
) -> None:
    keys = SubjectKeys(database, ring)
    await keys.to_seal_with(tenant, ["p-1"])
    assert (await keys.of(other_tenant, ["p-1"]))["p-1"].living is None
    await keys.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE mnemon.subject_keys SET destroyed_at = NULL, wrapped_key = '\\x00', key_id = 'x'",
        "INSERT INTO mnemon.subject_keys (tenant_id, subject_id, generation) VALUES (mnemon.current_tenant(), 'p', 2)",
        "DELETE FROM mnemon.subject_keys",
        "DELETE FROM mnemon.wrapping_keys",
        "DELETE FROM mnemon.erasures",
        "UPDATE mnemon.erasures SET key_destroyed_at = now()",
        "INSERT INTO mnemon.redactions SELECT * FROM mnemon.redactions",
        "INSERT INTO mnemon.archives SELECT * FROM mnemon.archives",
        "UPDATE mnemon.event_payloads SET payload = NULL",
    ],
)
async def test_the_application_role_cannot_touch_keys_or_records(
    database: Database, tenant: UUID, statement: str
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with database.transaction(tenant) as tx:
            await tx.execute(statement)


async def test_a_tombstone_cannot_be_removed_or_revived_even_by_the_owner(
    privacy: Privacy, database: Database, tenant: UUID
) -> None:
    await privacy.log.append(tenant, [joined()])
    asked = await privacy.erasures.request(tenant, "c-1", reason="subject_request", requested_by="u-1")
    await privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-2")
    for statement in (
        "DELETE FROM mnemon.subject_keys WHERE tenant_id = %s AND destroyed_at IS NOT NULL",
        "UPDATE mnemon.subject_keys SET destroyed_at = NULL, wrapped_key = '', "
        "key_id = (SELECT min(key_id) FROM mnemon.wrapping_keys) WHERE tenant_id = %s AND destroyed_at IS NOT NULL",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="stays destroyed"):
            async with database.owner() as owner:
                await owner.execute(statement, (tenant,))
