"""Claims about the views: what was promised is told of its owner, by date, and of what is served."""

from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from mnemon.app import Mnemon
from mnemon.documents.access import Reader
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.search.query import event_search
from mnemon.semantics.search.views import open_commitments, people_topics
from tests.semantics.conftest import ADA

Done = Callable[[], Awaitable[None]]


async def test_open_commitments_are_those_of_their_owner_by_date_and_of_today(
    mnemon: Mnemon, tenant: UUID, reader: Reader, all_done: Done
) -> None:
    async def take(content: str) -> None:
        written = datetime(2026, 3, 2, 9, tzinfo=UTC)
        new = NewArtifact(artifact_type="note", source_system="test", content=content, ts=written, source_id="page")
        await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)

    await take("Cyd Frost will paint the barn by 8 March 2026.")
    now = [
        "Ben Okafor will call the landlord.",
        "Ben Okafor will show the map to Ada Byron by 11 March 2026.",
        "Ada Byron will send the budget by 9 March 2026.",
    ]
    await take("\n\n".join(now))
    await all_done()

    async def promised(**asked: Any) -> list[str]:
        view = await open_commitments(mnemon.database, tenant, reader, today=date(2026, 3, 9), **asked)
        return [one["narrative"] for one in view["commitments"]]

    whole = await open_commitments(mnemon.database, tenant, reader, today=date(2026, 3, 10))
    assert [one["narrative"] for one in whole["commitments"]] == now[::-1], "the most urgent first, then the undated"
    assert [(one["days_left"], one["overdue"]) for one in whole["commitments"]] == [
        (-1, True),
        (1, False),
        (None, False),
    ]
    shown = await open_commitments(mnemon.database, tenant, reader, limit=1)
    assert (len(shown["commitments"]), shown["total"]) == (1, 3)
    assert await promised(overdue=True) == [], "what is due today is not late"
    assert await promised(due_before=date(2026, 3, 10)) == now[2:]
    assert await promised(due_before=date(2026, 3, 9)) == []
    assert await promised(due_from=date(2026, 3, 9), due_to=date(2026, 3, 9)) == now[2:]
    assert await promised(due_from=date(2026, 3, 10)) == now[1:2], "what has no day is due on none"
    assert await promised(due_to=date(2026, 3, 8)) == []
    [own] = (await open_commitments(mnemon.database, tenant, reader, owner="ada"))["commitments"]
    assert own["owners"] == ["Ada Byron"], "to whom it was promised does not owe it"
    [shared] = (await event_search(mnemon.database, tenant, reader, EventFilters(query="map")))["events"]
    assert ("Ada Byron", "owner") not in [(one["ref"], one["role"]) for one in shared["actors"]]
    people = (await people_topics(mnemon.database, tenant, reader))["people"]
    assert "Cyd Frost" not in [row["person"] for row in people], "that revision is not served any more"


async def test_who_was_involved_in_a_topic_without_a_word_to_find_is_nobody(
    mnemon: Mnemon, tenant: UUID, reader: Reader, all_done: Done
) -> None:
    new = NewArtifact(artifact_type="note", source_system="test", content="Ada Byron will send the budget.")
    await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
    await all_done()

    async def people(**asked: str) -> int:
        return int((await people_topics(mnemon.database, tenant, reader, **asked))["total"])

    assert await people(topic="budget") == await people(topic="", person=" ") == 1
    assert await people(topic="the") == await people(topic="…") == 0
    assert (await open_commitments(mnemon.database, tenant, reader, owner=""))["total"] == 1
