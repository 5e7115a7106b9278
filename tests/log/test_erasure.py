"""Erasure: two people, one key, and nothing left to read."""

import asyncio
import gzip
import json
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from mnemon.db.database import Connection, Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.errors import Conflict, InvalidRequest, NotAllowed, NotFound
from mnemon.identity.tenant_moves import FORGET_KEYS
from mnemon.log.errors import SubjectErased
from mnemon.log.events import Actor, Event, Scope
from mnemon.log.moments import now
from mnemon.log.privacy.affected import AffectedEvent
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.privacy.erasure import Erasure
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.wrapping_keys import KeyRing
from mnemon.log.proof import chain
from mnemon.log.read.streams import Stream
from tests.patience import PATIENCE

from .conftest import joined, open_private

BLOCKED = """
SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%destroy_subject_key%'
"""
SECRETS = ("Ada Lovelace", "c-1@example.org")


async def erase(privacy: Privacy, tenant: UUID, subject: str = "c-1") -> Erasure:
    asked = await privacy.erasures.request(tenant, subject, reason="subject_request", requested_by="u-1")
    return await privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-2")


async def chain_holds(privacy: Privacy, tenant: UUID, legal_entity: str = "main") -> bool:
    previous = chain.genesis(tenant, legal_entity)
    async for event in privacy.log.reader.scan(tenant, legal_entity=legal_entity, opened=False):
        assert event.payload_text is not None
        own = chain.link(
            previous,
            event.sequence,
            event.recorded_at,
            chain.digest(event.envelope_text.encode()),
            chain.digest(event.payload_text.encode()),
        )
        if own != event.hash:
            return False
        previous = own
    return True


async def test_an_erased_person_reads_as_redacted_and_everyone_else_as_before(privacy: Privacy, tenant: UUID) -> None:
    await privacy.log.append(tenant, [joined(), joined("c-2", "Grace Hopper")])
    before = await privacy.log.read_page(tenant)
    erasure = await erase(privacy, tenant)
    assert (erasure.status, erasure.events_affected, erasure.decided_by) == ("completed", 1, "u-2")
    first, second = (await privacy.log.read_page(tenant)).events[:2]
    assert first.data == {"customer_id": "c-1", "name": REDACTED, "contact": {"email": REDACTED}}
    assert first.as_json()["actor"]["name"] == "Ada Clerk"
    assert second.data["name"] == "Grace Hopper"
    assert (first.hash, first.payload_text) == (before.events[0].hash, before.events[0].payload_text)
    assert await chain_holds(privacy, tenant)


async def test_the_erasure_stands_in_the_log_with_both_people_and_in_the_deletion_log(
    privacy: Privacy, tenant: UUID
) -> None:
    await privacy.log.append(tenant, [joined()])
    erasure = await erase(privacy, tenant)
    page = await privacy.log.read_page(tenant, Stream.of_entity("person", "c-1"))
    assert [event.type for event in page.events] == [
        "privacy.erasure.requested",
        "privacy.subject.erased",
        "privacy.erasure.completed",
    ]
    erased = page.events[1]
    assert (erased.actor_id, erased.envelope["approved_by"]) == ("u-1", "u-2")
    assert await privacy.erasures.page(tenant, 10) == [erasure]
    assert await privacy.erasures.get(tenant, erasure.erasure_id) == erasure


async def test_who_asked_cannot_approve(privacy: Privacy, tenant: UUID) -> None:
    await privacy.log.append(tenant, [joined()])
    asked = await privacy.erasures.request(tenant, "c-1", reason="subject_request", requested_by="u-1")
    with pytest.raises(NotAllowed, match="a second person must"):
        await privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-1")
    assert (await privacy.log.read_page(tenant)).events[0].data["name"] == "Ada Lovelace"
    with pytest.raises(psycopg.errors.CheckViolation):
        async with privacy.log.database.transaction(tenant) as tx:
            await tx.execute("SELECT mnemon.destroy_subject_key(%s, 'u-1')", (asked.erasure_id,))


async def test_a_key_cannot_be_destroyed_without_a_request(database: Database, tenant: UUID) -> None:
    with pytest.raises(psycopg.errors.NoDataFound):
        async with database.transaction(tenant) as tx:
            await tx.execute("SELECT mnemon.destroy_subject_key('01', 'u-2')")


async def test_asking_and_approving_twice_changes_nothing_more(privacy: Privacy, tenant: UUID) -> None:
    await privacy.log.append(tenant, [joined()])
    requests = await asyncio.gather(
        *(privacy.erasures.request(tenant, "c-1", reason="subject_request", requested_by="u-1") for _ in range(5))
    )
    assert len({one.erasure_id for one in requests}) == 1
    done = await asyncio.gather(
        *(privacy.erasures.approve(tenant, requests[0].erasure_id, approved_by="u-2") for _ in range(5))
    )
    assert {one.status for one in done} == {"completed"}
    again = await privacy.erasures.request(tenant, "c-1", reason="subject_request", requested_by="u-3")
    assert again == done[0]
    types = [event.type for event in (await privacy.log.read_page(tenant)).events]
    assert types.count("privacy.subject.erased") == types.count("privacy.erasure.completed") == 1


async def test_an_open_request_is_not_written_over_by_another_reason(privacy: Privacy, tenant: UUID) -> None:
    await privacy.log.append(tenant, [joined()])
    asked = await privacy.erasures.request(tenant, "c-1", reason="whatever", requested_by="u-1")
    again = await privacy.erasures.request(tenant, "c-1", reason="whatever", requested_by="u-1")
    assert again.erasure_id == asked.erasure_id
    with pytest.raises(Conflict, match=f"asked for already, with the reason whatever: approve {asked.erasure_id}"):
        await privacy.erasures.request(tenant, "c-1", reason="subject_request", reference="DSR-2", requested_by="u-1")
    await privacy.erasures.decline(tenant, asked.erasure_id, declined_by="u-1")
    anew = await privacy.erasures.request(
        tenant, "c-1", reason="subject_request", reference="DSR-2", requested_by="u-1"
    )
    assert (anew.reason, anew.reference) == ("subject_request", "DSR-2")


async def test_a_declined_request_erases_nobody_and_can_be_made_again(privacy: Privacy, tenant: UUID) -> None:
    await privacy.log.append(tenant, [joined()])
    asked = await privacy.erasures.request(tenant, "c-1", reason="subject_request", requested_by="u-1")
    declined = await privacy.erasures.decline(tenant, asked.erasure_id, declined_by="u-1")
    assert declined.status == "declined"
    with pytest.raises(Conflict, match="was declined"):
        await privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-2")
    assert (await privacy.log.read_page(tenant)).events[0].data["name"] == "Ada Lovelace"
    assert (await erase(privacy, tenant)).status == "completed"
    with pytest.raises(Conflict, match="cannot be undone"):
        await privacy.erasures.decline(
            tenant, (await privacy.erasures.page(tenant, 1))[0].erasure_id, declined_by="u-1"
        )


async def test_nobody_is_erased_whom_the_log_does_not_know(privacy: Privacy, tenant: UUID, other_tenant: UUID) -> None:
    await privacy.log.append(tenant, [joined()])
    for who, where in (("c-99", tenant), ("c-1", other_tenant)):
        with pytest.raises(NotFound, match="no personal data"):
            await privacy.erasures.request(where, who, reason="subject_request", requested_by="u-1")


@pytest.mark.parametrize("reason", ["Ada asked us", "", "X"])
async def test_a_reason_is_a_code_word_so_that_no_name_stays_in_the_log(
    privacy: Privacy, tenant: UUID, reason: str
) -> None:
    with pytest.raises(InvalidRequest, match="code word"):
        await privacy.erasures.request(tenant, "c-1", reason=reason, requested_by="u-1")
    with pytest.raises(InvalidRequest, match="ticket"):
        await privacy.erasures.request(tenant, "c-1", reason="ok", requested_by="u-1", reference="Mrs Lovelace")


async def test_a_later_event_about_an_erased_person_is_refused_with_the_remedy(privacy: Privacy, tenant: UUID) -> None:
    await privacy.log.append(tenant, [joined()])
    await erase(privacy, tenant)
    head = (await privacy.log.list_partitions(tenant))[0].sequence
    with pytest.raises(SubjectErased, match="mnemon privacy readmit") as refusal:
        await privacy.log.append(tenant, [joined()])
    assert refusal.value.details == {"subjects": ["c-1"]}
    assert (await privacy.log.list_partitions(tenant))[0].sequence == head
    await privacy.log.append(tenant, [joined(data={"customer_id": "c-1", "plan": "gold"})])


async def test_an_erased_actor_can_go_on_and_stays_nameless(privacy: Privacy, database: Database, tenant: UUID) -> None:
    await privacy.log.append(tenant, [joined()])
    await erase(privacy, tenant, "u-1")
    [appended] = await privacy.log.append(tenant, [joined("c-2")])
    event = await privacy.log.read_event(tenant, appended.id)
    assert event.as_json()["actor"] == {"type": "human", "id": "u-1", "name": REDACTED, "ip_address": REDACTED}
    assert event.data["name"] == "Ada Lovelace"


async def test_a_readmitted_person_gets_a_new_key_and_the_old_data_stays_unreadable(
    database: Database, ring: KeyRing, tenant: UUID, tmp_path: Path
) -> None:
    privacy = open_private(database, ring, tmp_path, key_seconds=0)
    await privacy.log.append(tenant, [joined()])
    with pytest.raises(NotFound, match="only who was forgotten"):
        await privacy.erasures.readmit(tenant, "c-1", reason="new_contract", by="u-1")
    await erase(privacy, tenant)
    assert await privacy.erasures.readmit(tenant, "c-1", reason="new_contract", by="u-1") == 2
    await privacy.log.append(tenant, [joined(name="Ada King")])
    events = (await privacy.log.read_page(tenant, Stream.of_entity("customer", "c-1"))).events
    assert [event.data["name"] for event in events] == [REDACTED, "Ada King"]
    second = await erase(privacy, tenant)
    assert second.events_affected == 2
    events = (await privacy.log.read_page(tenant, Stream.of_entity("customer", "c-1"))).events
    assert [event.data["name"] for event in events] == [REDACTED, REDACTED]
    await privacy.close()


async def test_readmission_waits_until_every_process_has_forgotten(privacy: Privacy, tenant: UUID) -> None:
    await privacy.log.append(tenant, [joined()])
    await erase(privacy, tenant)
    with pytest.raises(NotFound, match="60 seconds"):
        await privacy.erasures.readmit(tenant, "c-1", reason="new_contract", by="u-1")


async def test_lenses_are_told_which_events_lost_something(privacy: Privacy, tenant: UUID) -> None:
    told: list[tuple[UUID, Sequence[str], Sequence[AffectedEvent]]] = []

    async def rebuild(where: UUID, who: Sequence[str], affected: Sequence[AffectedEvent]) -> list[str]:
        told.append((where, who, affected))
        return ["customers"]

    privacy.erasures.on_erased.append(rebuild)
    await privacy.log.append(tenant, [joined(), joined("c-2")])
    await privacy.log.append(tenant, [joined(scope=Scope("USMF"))])
    erasure = await erase(privacy, tenant)
    assert erasure.lenses_rebuilt == ["customers"]
    [(where, who, affected)] = told
    assert (where, who) == (tenant, ["c-1"])
    assert [(one.legal_entity, one.sequence) for one in affected] == [("main", 1), ("USMF", 1)]
    assert affected[0].fields == ["/data/contact/email", "/data/name"]


async def test_an_erasure_whose_lens_fails_is_noted_and_taken_up_again(privacy: Privacy, tenant: UUID) -> None:
    failing = True

    async def rebuild(*_: object) -> list[str]:
        if failing:
            raise RuntimeError("the disk is full")
        return ["customers"]

    privacy.erasures.on_erased.append(rebuild)
    await privacy.log.append(tenant, [joined()])
    asked = await privacy.erasures.request(tenant, "c-1", reason="subject_request", requested_by="u-1")
    with pytest.raises(RuntimeError):
        await privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-2")
    half = await privacy.erasures.get(tenant, asked.erasure_id)
    assert (half.status, half.last_error) == ("key_destroyed", "RuntimeError: the disk is full")
    assert (await privacy.log.read_page(tenant)).events[0].data["name"] == REDACTED
    failing = False
    done = await privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-2")
    assert (done.status, done.last_error, done.lenses_rebuilt) == ("completed", None, ["customers"])


class PlainLens:
    """An inline lens that writes what it is given, as plain as it comes."""

    types = frozenset({"shop.customer.joined"})

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.reached, self.go_on = asyncio.Event(), asyncio.Event()

    async def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        self.reached.set()
        await self.go_on.wait()
        self.seen += [str(event.data["name"]) for event in events]


async def test_an_append_under_way_is_waited_for_and_counted(privacy: Privacy, tenant: UUID) -> None:
    """Its lens writes plain text in the same transaction: an erasure that overtook it would miss that."""
    await privacy.log.append(tenant, [joined(scope=Scope("USMF"))])
    lens = PlainLens()
    privacy.log.add_inline_lens(lens)
    append = asyncio.create_task(privacy.log.append(tenant, [joined(name="Late Ada", scope=Scope("USMF"))]))
    await asyncio.wait_for(lens.reached.wait(), PATIENCE)
    erasing = asyncio.create_task(erase(privacy, tenant))
    await wait_until_blocked(privacy.log.database)
    assert not erasing.done()
    lens.go_on.set()
    await append
    erasure = await asyncio.wait_for(erasing, PATIENCE)
    assert erasure.events_affected == 2


async def wait_until_blocked(database: Database) -> None:
    """Until some statement of ours waits for a row that another transaction holds."""
    async with asyncio.timeout(PATIENCE), database.owner() as owner:
        while True:
            row = await (await owner.execute(BLOCKED)).fetchone()
            if row and row["n"]:
                return
            await asyncio.sleep(0.01)


async def test_a_process_that_still_remembers_a_destroyed_key_cannot_record_with_it(
    database: Database, ring: KeyRing, tenant: UUID, privacy: Privacy, tmp_path: Path
) -> None:
    deaf = open_private(database, ring, tmp_path / "other", key_seconds=3600)
    lens = PlainLens()
    lens.go_on.set()
    deaf.log.add_inline_lens(lens)
    await deaf.log.append(tenant, [joined(), joined("c-2")])
    await deaf.log.read_page(tenant)
    await erase(privacy, tenant)
    assert (tenant, "c-1") in deaf.keys._memory
    lens.seen.clear()
    results = await asyncio.gather(
        deaf.log.append(tenant, [joined(name="Too Late")]),
        deaf.log.append(tenant, [joined("c-2", "Bystander")]),
        return_exceptions=True,
    )
    assert isinstance(results[0], SubjectErased)
    assert not isinstance(results[1], BaseException)
    names = [event.payload["data"].get("name") async for event in privacy.log.scan(tenant)]
    assert "Too Late" not in names
    assert "Bystander" in names
    await deaf.close()


async def test_an_erased_actor_in_anothers_memory_is_left_out_at_the_second_try(
    database: Database, ring: KeyRing, tenant: UUID, privacy: Privacy, tmp_path: Path
) -> None:
    deaf = open_private(database, ring, tmp_path / "other", key_seconds=3600)
    await deaf.log.append(tenant, [joined()])
    await erase(privacy, tenant, "u-1")
    [appended] = await deaf.log.append(tenant, [joined("c-2")])
    assert (await deaf.log.read_event(tenant, appended.id)).payload["actor"]["name"] == REDACTED
    await deaf.close()


async def test_other_processes_forget_at_once(
    database: Database, ring: KeyRing, tenant: UUID, privacy: Privacy, tmp_path: Path
) -> None:
    other = open_private(database, ring, tmp_path / "other", key_seconds=3600, listening=True)
    await other.log.append(tenant, [joined()])
    await asyncio.wait_for(other.invalidation.listening.wait(), PATIENCE)
    assert (await other.log.read_page(tenant)).events[0].data["name"] == "Ada Lovelace"
    await erase(privacy, tenant)
    async with asyncio.timeout(PATIENCE):
        while (tenant, "c-1") in other.keys._memory:  # noqa: ASYNC110  its memory has no event to wait for
            await asyncio.sleep(0.01)
    assert (await other.log.read_page(tenant)).events[0].data["name"] == REDACTED
    await other.close()


async def test_when_a_tenant_comes_back_from_another_database_nothing_remembered_is_trusted(
    database: Database, ring: KeyRing, tenant: UUID, tmp_path: Path
) -> None:
    """Who was erased there was not told of here."""
    other = open_private(database, ring, tmp_path / "other", key_seconds=3600, listening=True)
    await other.log.append(tenant, [joined()])
    await asyncio.wait_for(other.invalidation.listening.wait(), PATIENCE)
    assert (await other.log.read_page(tenant)).events[0].data["name"] == "Ada Lovelace"
    assert (tenant, "c-1") in other.keys._memory
    async with database.owner() as owner:
        await owner.execute(FORGET_KEYS, (str(tenant),))
    async with asyncio.timeout(PATIENCE):
        while other.keys._memory:  # noqa: ASYNC110  it has no event to wait for
            await asyncio.sleep(0.01)
    await other.close()


async def test_erasures_and_appends_at_the_same_time_leave_everything_readable_or_redacted(
    privacy: Privacy, tenant: UUID
) -> None:
    people = [f"c-{n}" for n in range(8)]
    await privacy.log.append(tenant, [joined(one, f"Name of {one}") for one in people])

    async def write(one: str) -> int:
        written = 0
        for number in range(15):
            try:
                await privacy.log.append(tenant, [joined(one, f"Name of {one}", scope=Scope(f"e{number % 2}"))])
                written += 1
            except SubjectErased:
                break
        return written

    erased = people[:4]
    results = await asyncio.wait_for(
        asyncio.gather(*(write(one) for one in people), *(erase(privacy, tenant, one) for one in erased)), PATIENCE
    )
    assert results[4:8] == [15] * 4
    for legal_entity in ("main", "e0", "e1"):
        assert await chain_holds(privacy, tenant, legal_entity)
        async for event in privacy.log.scan(tenant, legal_entity=legal_entity):
            if event.type == "shop.customer.joined":
                who = event.data["customer_id"]
                assert event.data["name"] == (REDACTED if who in erased else f"Name of {who}")


async def test_after_an_erasure_the_words_are_nowhere_in_tables_archives_pages_or_the_write_ahead_log(
    own_privacy: Privacy, own_database: Database, own_tenant: UUID, server: EmbeddedServer
) -> None:
    began = time.time()
    subject, words = f"p-{own_tenant}", [f"Zoe {own_tenant}", f"p-{own_tenant}@example.org"]
    clerk = Actor("human", f"a-{own_tenant}", f"Clerk {own_tenant}")
    await own_privacy.log.append(own_tenant, [joined(subject, words[0], idempotency_key="k", actor=clerk)])
    await erase(own_privacy, own_tenant, subject)
    found = await own_privacy.scan(own_tenant, subject, words)
    assert found.clean, found.findings
    assert {"mnemon.erasures.subject_id", "mnemon.event_keys.key"} <= set(found.columns)
    raw = await files_of(own_database, server, began)
    assert len(raw) > 100
    for file in raw:
        content = read_if_there(file)
        for word in [*words, clerk.name or ""]:
            assert word.encode() not in content, file
    assert any(str(own_tenant).encode() in read_if_there(file) for file in raw)


async def files_of(database: Database, server: EmbeddedServer, began: float) -> list[Path]:
    """Every file of this database, and whatever else the server has written since: both logs, global tables."""
    async with database.session() as session:
        row = await (await session.execute("SELECT oid FROM pg_database WHERE datname = current_database()")).fetchone()
    assert row is not None
    data = server.cluster.data
    others = [file for file in data.rglob("*") if "base" not in file.relative_to(data).parts]
    own = (data / "base" / str(row["oid"])).rglob("*")
    return [file for file in (*own, *others) if written_since(file, 0 if "base" in file.parts else began - 1)]


def written_since(file: Path, moment: float) -> bool:
    try:
        return file.is_file() and file.stat().st_mtime >= moment
    except FileNotFoundError:
        return False


def read_if_there(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


async def test_archived_payloads_of_an_erased_person_are_ciphertext_too(
    own_privacy: Privacy, own_tenant: UUID, tmp_path: Path
) -> None:
    privacy, tenant = own_privacy, own_tenant
    await privacy.log.append(tenant, [joined()])
    await privacy.archive.archive(tenant, now(), actor=Actor("system", "operator"))
    await erase(privacy, tenant)
    assert (await privacy.log.read_page(tenant)).events[0].data["name"] == REDACTED
    [file] = [file for file in (tmp_path / "archive").rglob("*") if file.is_file()]
    text = gzip.decompress(file.read_bytes()).decode()
    assert json.loads(json.loads(text)["payload"])["data"]["customer_id"] == "c-1"
    assert not any(secret in text for secret in SECRETS)
    assert (await privacy.scan(tenant, "c-1", ["Ada Lovelace"])).clean
