"""Claims about events of texts that tell no day, about headings as topics, and about links that are only suggested."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.documents.access import Reader
from mnemon.operations import Caller
from mnemon.semantics.artifacts import Ingested, NewArtifact, ingest_artifact
from mnemon.semantics.corrections import inputs
from mnemon.semantics.corrections import operations as corrections
from mnemon.semantics.extract import job
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.link.placed import EventLink
from mnemon.semantics.search.query import event_get, event_search
from mnemon.semantics.search.views import open_commitments, people_topics
from tests.semantics.conftest import ADA

Done = Callable[[], Awaitable[None]]
Take = Callable[..., Awaitable[Ingested]]
MARCH = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
def take(mnemon: Mnemon, tenant: UUID) -> Take:
    async def ingest(content: str, ts: datetime | None = None, **fields: Any) -> Ingested:
        new = NewArtifact(artifact_type="note", source_system="test", content=content, ts=ts, **fields)
        return await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)

    return ingest


async def found(mnemon: Mnemon, tenant: UUID, reader: Reader, **filters: Any) -> list[dict[str, Any]]:
    answer = await event_search(mnemon.database, tenant, reader, EventFilters(**filters))
    events: list[dict[str, Any]] = answer["events"]
    return events


async def test_what_has_no_day_says_so_and_stands_behind_what_has_one(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    await take("We decided to lease a crane in Kisumu.", MARCH)
    await take("Naledi will order the harnesses by 3 December 2026. We decided to sell the old sledge.")
    await all_done()

    listed = await found(mnemon, tenant, reader)
    assert [event["happened_at"] is None for event in listed] == [False, True, True]
    assert [event["narrative"] for event in await found(mnemon, tenant, reader, time_from=MARCH)] == [
        "We decided to lease a crane in Kisumu."
    ]
    [promise] = (await open_commitments(mnemon.database, tenant, reader))["commitments"]
    assert promise["due"] == "2026-12-03", "a day that is named with its year needs no other to count from"
    [person] = (await people_topics(mnemon.database, tenant, reader, person="Naledi"))["people"]
    assert person["last_at"] is None


async def test_pages_go_on_from_what_has_a_day_to_what_has_none(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    for place in ("Accra", "Bergen"):
        await take(f"We decided to lease a crane in {place}.", MARCH)
        await take(f"We decided to sell the boat in {place}.")
    await all_done()
    seen: list[str] = []
    cursor = None
    for _ in range(5):
        page = await event_search(mnemon.database, tenant, reader, limit=1, cursor=cursor)
        assert page["total"] == 4
        seen += [event["narrative"] for event in page["events"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert [("crane" in one, "boat" in one) for one in seen] == [(True, False)] * 2 + [(False, True)] * 2


async def test_an_event_is_found_by_the_headings_above_it(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    await take("# Cut-over of the ledger\n\n## Freeze\n\n- We decided to start at 22:00.\n", MARCH, title="Night plan")
    await all_done()
    for words in ("cut-over", "freeze", "night plan"):
        assert [event["category"] for event in await found(mnemon, tenant, reader, query=words)] == ["Decision"], words
    [event] = await found(mnemon, tenant, reader)
    assert event["subject"]["ref"] == "Freeze", "an hour is no subject"


async def test_a_suggested_link_ends_nothing_until_a_person_confirms_it(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    await take("We decided to paint the hall green.", MARCH)
    await all_done()
    [old] = await found(mnemon, tenant, reader)

    async def suggested(tx: Any, source: Any, events: Any, *more: Any) -> list[EventLink]:
        return [EventLink("supersedes", events[0].event_id, old["event_id"], "perhaps", suggested=True)]

    monkeypatch.setattr(job, "links_of", suggested)
    await take("We decided to leave the walls as they are.", MARCH)
    await all_done()

    async def seen() -> dict[str, Any]:
        return await event_get(mnemon.database, tenant, reader, old["event_id"])

    before = await seen()
    [link] = before["links"]
    assert (before["status"], link["suggested"]) == ("open", True)
    caller = Caller(tenant, ADA)
    pair = {"event_id": link["later"], "earlier": old["event_id"]}
    await corrections.link(mnemon, caller, inputs.EventTie(**pair, kind="supersedes"))
    after = await seen()
    assert (after["status"], after["links"][0]["suggested"]) == ("superseded", False)
    await corrections.unlink(mnemon, caller, inputs.EventPair(**pair))
    assert ((await seen())["status"], (await seen())["links"]) == ("open", [])


async def test_what_depends_on_another_does_not_end_it(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    await take("We decided to lease a crane. Naledi will order the harnesses by Friday.", MARCH)
    await all_done()
    decision, promise = sorted(await found(mnemon, tenant, reader), key=lambda one: str(one["category"]), reverse=True)
    tie = inputs.EventTie(event_id=promise["event_id"], earlier=decision["event_id"], kind="depends_on")
    whole = await corrections.link(mnemon, Caller(tenant, ADA), tie)
    assert ("depends_on", decision["event_id"]) in [(link.kind, link.earlier) for link in whole.links]
    assert [event["status"] for event in await found(mnemon, tenant, reader)] == ["open", "open"]
