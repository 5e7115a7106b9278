"""The keys of people: made once, kept shortly, never made again."""

import asyncio
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from mnemon.db.database import Database
from mnemon.log.errors import KeyConflict, SubjectErased, VersionConflict
from mnemon.log.events import Actor, Delegator, Scope
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.subjects import UNWRAPPED, SubjectKeys
from mnemon.log.privacy.wrapping_keys import KeyRing
from tests.patience import PATIENCE

from .conftest import CLERK, joined, noted, open_private

WAITING = "SELECT count(*) AS waiting FROM pg_locks WHERE NOT granted AND relation IS NULL"


def unwrapped() -> float:
    return float(UNWRAPPED._value.get())


async def until_someone_waits(database: Database) -> None:
    """Until a statement waits for a row that another transaction has added."""
    async with asyncio.timeout(PATIENCE), database.owner() as owner:
        while True:
            row = await (await owner.execute(WAITING)).fetchone()
            if row and row["waiting"]:
                return
            await asyncio.sleep(0.01)


async def test_two_processes_that_meet_someone_at_once_agree_on_the_key(
    database: Database, ring: KeyRing, tenant: UUID, tmp_path: Path
) -> None:
    """Into two partitions, so that only the keys themselves make them wait for each other."""
    first, second, reader = (open_private(database, ring, tmp_path) for _ in range(3))
    names = [f"p-{n}" for n in range(20)]
    batches = [
        one.log.append(tenant, [joined(name, f"{name} {place}", scope=Scope(place)) for name in order])
        for one, place, order in ((first, "DE", names), (second, "FR", names[::-1]))
    ]
    await asyncio.gather(*batches)
    for place in ("DE", "FR"):
        read = [event.data["name"] async for event in reader.log.scan(tenant, legal_entity=place)]
        assert sorted(read) == sorted(f"{name} {place}" for name in names)
    for one in (first, second, reader):
        await one.close()


async def test_callers_of_one_process_that_meet_someone_at_once_agree_on_the_key(
    privacy: Privacy, tenant: UUID
) -> None:
    await asyncio.gather(*(privacy.log.append(tenant, [joined("c-1", f"name {n}")]) for n in range(30)))
    read = [event.data["name"] async for event in privacy.log.scan(tenant)]
    assert sorted(read) == sorted(f"name {n}" for n in range(30))


async def test_a_transaction_names_a_newcomer_twice_under_one_key(privacy: Privacy, tenant: UUID) -> None:
    async with privacy.log.transaction(tenant) as transaction:
        await transaction.append([joined("c-1", "once")])
        await transaction.append([joined("c-1", "twice")])
    assert [event.data["name"] async for event in privacy.log.scan(tenant)] == ["once", "twice"]


async def test_a_transaction_that_waits_for_anothers_newcomer_takes_over_the_key(
    privacy: Privacy, database: Database, tenant: UUID
) -> None:
    await privacy.log.append(tenant, [noted(scope=Scope("DE")), noted(scope=Scope("DE"))])
    async with privacy.log.transaction(tenant) as transaction:
        await transaction.append([joined("c-1", "here")])
        other = asyncio.create_task(privacy.log.append(tenant, [joined("c-1", "there", scope=Scope("DE"))]))
        await until_someone_waits(database)
    await asyncio.wait_for(other, PATIENCE)
    assert [event.data["name"] async for event in privacy.log.scan(tenant)] == ["here"]
    *_, last = [
        event.data["name"] async for event in privacy.log.scan(tenant, legal_entity="DE") if "name" in event.data
    ]
    assert last == "there"


async def test_a_key_that_was_undone_with_its_transaction_is_never_used_again(privacy: Privacy, tenant: UUID) -> None:
    with pytest.raises(ZeroDivisionError):
        async with privacy.log.transaction(tenant) as transaction:
            await transaction.append([joined("c-1", "undone")])
            raise ZeroDivisionError
    assert await privacy.people(tenant, 10) == []
    await privacy.log.append(tenant, [joined("c-1", "done")])
    assert [event.data["name"] async for event in privacy.log.scan(tenant)] == ["done"]


class TestARefusedAppend:
    """Leaves nothing: no event, and no key of someone whom nothing names."""

    async def test_for_its_version(self, privacy: Privacy, tenant: UUID) -> None:
        with pytest.raises(VersionConflict):
            await privacy.log.append(tenant, [joined(expected_versions={("customer", "c-1"): 5})])
        assert await privacy.people(tenant, 10) == []

    async def test_for_its_key(self, privacy: Privacy, tenant: UUID) -> None:
        await privacy.log.append(tenant, [joined("c-1", idempotency_key="k")])
        with pytest.raises(KeyConflict):
            await privacy.log.append(tenant, [joined("c-2", idempotency_key="k")])
        with pytest.raises(KeyConflict):
            await privacy.log.append(tenant, [joined("c-3", idempotency_key="q"), joined("c-4", idempotency_key="q")])
        assert [one.subject_id for one in await privacy.people(tenant, 10)] == ["c-1", CLERK.id]

    async def test_for_someone_else_in_its_batch_who_was_erased(self, privacy: Privacy, tenant: UUID) -> None:
        await privacy.log.append(tenant, [joined("c-1")])
        asked = await privacy.erasures.request(tenant, "c-1", reason="subject_request", requested_by="u-7")
        await privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-8")
        with pytest.raises(SubjectErased):
            await privacy.log.append(tenant, [joined("c-2"), joined("c-1")])
        assert [one.subject_id for one in await privacy.people(tenant, 10)] == ["c-1", CLERK.id]

    async def test_in_a_group_while_others_succeed(self, privacy: Privacy, tenant: UUID) -> None:
        results = await asyncio.gather(
            *(
                privacy.log.append(tenant, [joined(f"c-{n}", expected_versions={("customer", f"c-{n}"): n % 2})])
                for n in range(10)
            ),
            return_exceptions=True,
        )
        assert [isinstance(one, VersionConflict) for one in results] == [n % 2 == 1 for n in range(10)]
        known = [one.subject_id for one in await privacy.people(tenant, 20)]
        assert known == ["c-0", "c-2", "c-4", "c-6", "c-8", CLERK.id]

    async def test_a_repeat_that_names_someone_else_leaves_no_key_either(self, privacy: Privacy, tenant: UUID) -> None:
        """Personal values are no part of what a key stands for."""
        first = noted(idempotency_key="k", actor=Actor("human", "u-1", "Ada"))
        await privacy.log.append(tenant, [first])
        again = replace(first, actor=replace(first.actor, on_behalf_of=Delegator("human", "u-2", "Bob")))
        [appended] = await privacy.log.append(tenant, [again])
        assert appended.duplicate
        assert [one.subject_id for one in await privacy.people(tenant, 10)] == ["u-1"]


async def test_a_wrapping_key_that_is_retired_meanwhile_is_replaced(
    privacy: Privacy, database: Database, tenant: UUID
) -> None:
    await privacy.log.append(tenant, [joined("c-1", "before")])
    await privacy.rotate()
    await privacy.log.append(tenant, [joined("c-2", "after")])
    assert [event.data["name"] async for event in privacy.log.scan(tenant)] == ["before", "after"]


async def test_a_key_is_unwrapped_once_while_it_is_remembered(
    privacy: Privacy, database: Database, ring: KeyRing, tenant: UUID
) -> None:
    await privacy.log.append(tenant, [joined("p-1")])
    keys = SubjectKeys(database, ring)
    before = unwrapped()
    for _ in range(3):
        await keys.of(tenant, ["p-1"])
    assert unwrapped() == before + 1
    keys.forget(tenant, ["p-1"])
    await keys.of(tenant, ["p-1"])
    assert unwrapped() == before + 2
    await keys.close()


async def test_memory_is_bounded_in_number_and_in_time(
    privacy: Privacy, database: Database, ring: KeyRing, tenant: UUID
) -> None:
    names = [f"p-{n}" for n in range(50)]
    await privacy.log.append(tenant, [joined(name) for name in names])
    keys = SubjectKeys(database, ring, most=10)
    await keys.of(tenant, names)
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

    await asyncio.wait_for(asyncio.gather(*(one(number) for number in range(25))), PATIENCE)
    assert (await privacy.log.list_partitions(tenant))[0].sequence == 26
    await privacy.close()


async def test_the_keys_of_one_tenant_are_not_anothers(
    privacy: Privacy, database: Database, ring: KeyRing, tenant: UUID, other_tenant: UUID
) -> None:
    await privacy.log.append(tenant, [joined("p-1")])
    keys = SubjectKeys(database, ring)
    assert (await keys.of(tenant, ["p-1"]))["p-1"].living is not None
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
