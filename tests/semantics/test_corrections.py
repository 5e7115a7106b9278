"""Claims about corrections: what a person says stands above what was read, is shown as theirs, can be taken back."""

import json
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.documents.access import Reader
from mnemon.errors import Conflict, InvalidRequest, MnemonError, NotFound
from mnemon.operations import Caller, Operation, read_input
from mnemon.semantics import outputs
from mnemon.semantics.artifacts import Ingested, NewArtifact, ingest_artifact
from mnemon.semantics.audit import verify_evidence
from mnemon.semantics.corrections import operations as corrections
from mnemon.semantics.corrections.carry import CorrectedEvent, same_events
from mnemon.semantics.extract.status import event_reextract
from mnemon.semantics.inputs import EventFilters, Everything
from mnemon.semantics.lens import SEMANTICS
from mnemon.semantics.search.query import event_get, event_search
from mnemon.semantics.search.views import open_commitments
from mnemon.semantics.semantic_event import Category, Evidence, SemanticEvent, Subject, event_id
from tests.api.conftest import Person
from tests.documents.conftest import rows
from tests.semantics.conftest import ADA, BEN

Done = Callable[[], Awaitable[None]]
Take = Callable[..., Awaitable[Ingested]]
Say = Callable[..., Awaitable[outputs.WholeEvent]]
MARCH = datetime(2026, 3, 2, 9, tzinfo=UTC)
BUDGET = "Ada Byron will send the budget by 9 March 2026."


@pytest.fixture
def take(mnemon: Mnemon, tenant: UUID, all_done: Done) -> Take:
    async def ingest(content: str, ts: datetime = MARCH, **fields: Any) -> Ingested:
        fields = {"visibility_scope": "org", **fields}
        new = NewArtifact(artifact_type="note", source_system="test", content=content, ts=ts, **fields)
        taken = await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
        await all_done()
        return taken

    return ingest


@pytest.fixture
def say(mnemon: Mnemon, tenant: UUID) -> Say:
    async def said(operation: Operation[Any, Any], event: str, *, by: Any = ADA, **given: Any) -> Any:
        asked = read_input(operation, {"event_id": event, **given})
        return await operation(mnemon, Caller(tenant, by), asked)

    return said


@pytest.fixture
def found(mnemon: Mnemon, tenant: UUID, reader: Reader) -> Callable[..., Awaitable[list[dict[str, Any]]]]:
    async def search(**filters: Any) -> list[dict[str, Any]]:
        answer = await event_search(mnemon.database, tenant, reader, EventFilters(**filters))
        events: list[dict[str, Any]] = answer["events"]
        return events

    return search


@pytest.fixture
def again(mnemon: Mnemon, tenant: UUID, reader: Reader, all_done: Done) -> Callable[[Ingested], Awaitable[None]]:
    async def read(taken: Ingested) -> None:
        await event_reextract(mnemon.database, tenant, reader, taken.artifact_uid, force=True)
        await all_done()

    return read


@pytest.fixture
async def replays(mnemon: Mnemon, tenant: UUID) -> Callable[[], Awaitable[None]]:
    async def compare() -> None:
        hashed = await mnemon.projector.state_hash(tenant, SEMANTICS.name)
        assert (await mnemon.projector.rebuild(tenant, SEMANTICS.name)).state_hash == hashed
        assert (await mnemon.projector.verify(tenant, SEMANTICS.name)).matches
        assert (await verify_evidence(mnemon.database, tenant)).holds

    return compare


async def test_a_promise_that_a_person_calls_done_is_done_and_says_by_whom(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, say: Say, found: Any, replays: Any
) -> None:
    await take(BUDGET)
    [promise] = await found(category="Commitment")

    event = await say(corrections.mark, promise["event_id"], verdict="done")
    assert (event.status, event.correction, event.corrected_by, event.version) == ("done", ["done"], "user:ada", 1)
    assert event.corrected_at is not None
    assert (await open_commitments(mnemon.database, tenant, reader))["total"] == 0
    assert [one["status"] for one in await found(status="done")] == ["done"]

    event = await say(corrections.mark, promise["event_id"], by=BEN, verdict="reopen")
    assert (event.status, event.corrected_by) == ("open", "user:ben")
    assert (await open_commitments(mnemon.database, tenant, reader))["total"] == 1
    await replays()


async def test_what_is_dismissed_is_shown_only_on_request_until_it_is_restored(
    take: Take, say: Say, found: Any, replays: Any
) -> None:
    await take(BUDGET)
    [promise] = await found()
    await say(corrections.mark, promise["event_id"], verdict="dismiss")
    assert await found() == await found(query="budget") == await found(status="open") == []
    assert [one["event_id"] for one in await found(status="dismissed")] == [promise["event_id"]]
    with pytest.raises(Conflict, match="restore it"):
        await say(corrections.edit, promise["event_id"], owner="Ben Okafor")
    await replays()

    restored = await say(corrections.mark, promise["event_id"], verdict="restore")
    assert (restored.status, restored.correction) == ("open", [])
    assert len(await found()) == 1


async def test_an_edit_changes_the_fields_and_is_found_by_them(take: Take, say: Say, found: Any, replays: Any) -> None:
    await take(BUDGET)
    [promise] = await found()
    edited = await say(
        corrections.edit, promise["event_id"], owner="Ben Okafor", due="2026-03-20", subject="harbour loan"
    )
    assert (edited.due, edited.subject.ref) == (date(2026, 3, 20), "harbour loan")
    assert [(one.ref, one.role) for one in edited.actors] == [("Ben Okafor", "owner")]
    assert edited.correction == ["owner", "due", "subject"]
    assert len(await found(actor="Ben Okafor")) == len(await found(query="harbour")) == 1
    assert await found(actor="Ada Byron") == []

    cleared = await say(corrections.edit, promise["event_id"], clear=["due"])
    assert cleared.due is None
    changed = await say(corrections.edit, promise["event_id"], category="Decision")
    assert (changed.category, changed.kind) == ("Decision", None)
    await replays()
    for _ in range(3):
        event = await say(corrections.undo, promise["event_id"])
    assert (event.category, event.due, event.subject.ref) == (
        promise["category"], date(2026, 3, 9), promise["subject"]["ref"],
    )  # fmt: skip
    assert [one.undone_by for one in event.corrections] == ["user:ada"] * 3
    with pytest.raises(Conflict, match="left to take back"):
        await say(corrections.undo, promise["event_id"])
    await replays()


async def test_a_repetition_changes_nothing_and_a_changed_event_is_refused(take: Take, say: Say, found: Any) -> None:
    await take(BUDGET)
    [promise] = await found()
    first = await say(corrections.mark, promise["event_id"], verdict="confirm", expected_version=0)
    assert first == await say(corrections.mark, promise["event_id"], verdict="confirm", expected_version=0)
    with pytest.raises(Conflict, match="version 1, not 0"):
        await say(corrections.mark, promise["event_id"], verdict="done", expected_version=0)
    same = await say(corrections.edit, promise["event_id"], due="2026-03-09")
    assert same.version == 1


async def test_bad_input_is_refused_by_name(take: Take, say: Say, found: Any) -> None:
    await take("We decided to use Postgres for the event store.")
    [decision] = await found()
    with pytest.raises(InvalidRequest, match="only a commitment has a due date"):
        await say(corrections.edit, decision["event_id"], due="2026-03-09")
    with pytest.raises(InvalidRequest, match="only a commitment can be done"):
        await say(corrections.mark, decision["event_id"], verdict="done")
    with pytest.raises(InvalidRequest, match="Nothing is changed"):
        await say(corrections.edit, decision["event_id"])
    with pytest.raises(NotFound):
        await say(corrections.mark, "evt_" + "0" * 32, verdict="confirm")
    assert (await found())[0]["version"] == 0


async def test_who_may_not_read_a_document_cannot_correct_its_events(take: Take, say: Say, found: Any) -> None:
    await take(BUDGET, visibility_scope="me")
    [promise] = await found()
    with pytest.raises(NotFound):
        await say(corrections.mark, promise["event_id"], by=BEN, verdict="done")


async def test_a_correction_stands_when_the_document_is_read_again(
    mnemon: Mnemon, tenant: UUID, take: Take, say: Say, found: Any, again: Any, replays: Any
) -> None:
    taken = await take(BUDGET + "\n\nWe decided to use Postgres for the event store.")
    [promise] = await found(category="Commitment")
    [decision] = await found(category="Decision")
    await say(corrections.edit, promise["event_id"], owner="Ben Okafor")
    await say(corrections.mark, decision["event_id"], verdict="dismiss")
    await again(taken)
    [promise] = await found()
    assert [one["ref"] for one in promise["actors"]] == ["Ben Okafor"]
    assert (promise["correction"], promise["corrected_by"]) == (["owner"], "user:ada")
    await replays()


async def test_events_of_one_text_are_merged_with_their_quotes_and_parted_again(
    take: Take, say: Say, found: Any, again: Any, replays: Any
) -> None:
    taken = await take(BUDGET + "\n\nBen Okafor will call the landlord by 12 March 2026.")
    first, second = sorted(await found(), key=lambda one: one["evidence"][0]["start_char"])
    merged = await say(corrections.merge, first["event_id"], merged=[second["event_id"]])
    assert [one.quote for one in merged.evidence] == [
        first["evidence"][0]["quote"], second["evidence"][0]["quote"],
    ]  # fmt: skip
    assert [one["event_id"] for one in await found()] == [first["event_id"]]
    await again(taken)
    [one] = await found()
    assert len(one["evidence"]) == 2
    await replays()
    await say(corrections.undo, one["event_id"])
    assert sorted(len(one["evidence"]) for one in await found()) == [1, 1]
    await replays()


async def test_what_was_merged_stands_for_itself_in_a_text_that_has_not_the_other(
    mnemon: Mnemon, tenant: UUID, take: Take, say: Say, found: Any, replays: Any
) -> None:
    decided = "We decided to close the depot in Bremen."
    await take(f"{BUDGET}\n\n{decided}", source_id="a")
    [promise] = await found(category="Commitment")
    [decision] = await found(category="Decision")
    await say(corrections.merge, promise["event_id"], merged=[decision["event_id"]])
    assert [one["category"] for one in await found()] == ["Commitment"]
    await take(f"Nothing is sent any more, and that is fine.\n\n{decided}", source_id="a")
    assert [(one["category"], one["status"], one.get("correction")) for one in await found()] == [
        ("Decision", "open", None)
    ]
    earlier = [one for one in await found(all_revisions=True) if one["event_id"] == promise["event_id"]]
    assert [len(one["evidence"]) for one in earlier] == [2], "of its own text alone"
    await replays()


async def test_an_event_is_split_into_what_it_says(take: Take, say: Say, found: Any, again: Any, replays: Any) -> None:
    taken = await take("We decided to use Postgres for the event store and to close the depot in Bremen.")
    [whole] = await found()
    quotes = ["use Postgres for the event store", "close the depot in Bremen"]
    with pytest.raises(InvalidRequest, match="does not stand at the place"):
        await say(corrections.split, whole["event_id"], quotes=["use Postgres", "open the depot"])
    await say(corrections.split, whole["event_id"], quotes=quotes)
    parts = await found()
    assert sorted(one["evidence"][0]["quote"] for one in parts) == sorted(quotes)
    [depot] = [one for one in parts if "depot" in one["narrative"]]
    await say(corrections.edit, depot["event_id"], category="Change")
    await again(taken)
    assert sorted(one["category"] for one in await found()) == ["Change", "Decision"]
    await replays()
    await say(corrections.undo, whole["event_id"])
    assert [one["event_id"] for one in await found()] == [whole["event_id"]]
    await replays()


async def test_links_that_people_draw_and_dismiss_stand_above_those_that_were_read(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, say: Say, found: Any, again: Any, replays: Any
) -> None:
    await take("We decided to use MySQL for the event store.")
    later = await take(
        "We decided to use Postgres instead of MySQL for the event store.", datetime(2026, 4, 2, tzinfo=UTC)
    )
    [old] = await found(status="superseded")
    [new] = await found(status="open")
    await say(corrections.unlink, new["event_id"], earlier=old["event_id"])
    assert await found(status="superseded") == []
    await again(later)
    assert await found(status="superseded") == []
    await replays()
    [new] = [one for one in await found() if "Postgres" in one["narrative"]]
    event = await say(corrections.link, new["event_id"], earlier=old["event_id"], kind="supersedes")
    assert [(one.kind, one.said_by) for one in event.links] == [("supersedes", "user:ada")]
    assert [one["event_id"] for one in await found(status="superseded")] == [old["event_id"]]
    await replays()
    await say(corrections.undo, new["event_id"])
    assert (await event_get(mnemon.database, tenant, reader, new["event_id"]))["links"] == []
    await say(corrections.undo, new["event_id"])
    [link] = (await event_get(mnemon.database, tenant, reader, new["event_id"]))["links"]
    assert link["said_by"] is None
    await replays()


async def test_a_correction_is_carried_to_a_new_revision_where_the_quote_stands_unchanged(
    take: Take, say: Say, found: Any, replays: Any
) -> None:
    depot = "We decided to close the depot in Bremen."
    await take(f"{BUDGET}\n\n{depot}", source_id="page")
    [promise] = await found(category="Commitment")
    [decision] = await found(category="Decision")
    await say(corrections.edit, promise["event_id"], owner="Ben Okafor")
    await say(corrections.mark, decision["event_id"], verdict="dismiss")
    await take(f"Minutes of the harbour meeting.\n\n{BUDGET}\n\nWe decided to open a depot in Kiel.", source_id="page")
    [promise] = await found(category="Commitment")
    [decision] = await found(category="Decision")
    assert [one["ref"] for one in promise["actors"]] == ["Ben Okafor"]
    assert promise["corrected_by"] == "user:ada"
    assert ("Kiel" in decision["narrative"], decision["version"]) == (True, 0)
    await replays()


async def test_purging_the_document_takes_its_corrections_along(
    mnemon: Mnemon, tenant: UUID, take: Take, say: Say, found: Any, replays: Any
) -> None:
    taken = await take(BUDGET)
    [promise] = await found()
    await say(corrections.edit, promise["event_id"], subject="harbour loan")
    await mnemon.purge_document(tenant, ADA, taken.doc_id)
    assert await rows(mnemon, tenant, "SELECT * FROM mnemon.event_corrections") == []
    await replays()


async def test_the_words_of_an_erased_person_are_gone_and_the_rest_stands(
    mnemon: Mnemon, tenant: UUID, take: Take, say: Say, found: Any, replays: Any
) -> None:
    await take(BUDGET + "\n\nWe decided to use Postgres for the event store.")
    [promise] = await found(category="Commitment")
    [decision] = await found(category="Decision")
    await say(corrections.edit, promise["event_id"], subject="harbour loan")
    await say(corrections.edit, decision["event_id"], by=BEN, subject="database")
    mnemon.tie_lenses_to_privacy()
    asked = await mnemon.privacy.erasures.request(tenant, "user:ada", reason="asked", requested_by="user:ben")
    await mnemon.privacy.erasures.approve(tenant, asked.erasure_id, approved_by="user:cleo")
    [promise] = await found(category="Commitment")
    [decision] = await found(category="Decision")
    assert (promise["subject"]["ref"] != "harbour loan", promise["version"]) == (True, 0)
    assert decision["subject"]["ref"] == "database"
    assert await found(query="harbour") == []
    await replays()


async def test_corrections_are_labelled_data(
    mnemon: Mnemon, tenant: UUID, client: httpx.AsyncClient, user: Person, take: Take, say: Say, found: Any
) -> None:
    await take(f"Minutes\n\nIt rained. {BUDGET}\n\nWe decided to close the depot in Bremen.")
    [promise] = await found(category="Commitment")
    [decision] = await found(category="Decision")
    await say(corrections.edit, promise["event_id"], owner="Ben Okafor")
    await say(corrections.mark, decision["event_id"], verdict="dismiss")
    exported = await corrections.export_corrected(mnemon, Caller(tenant, ADA), Everything())
    first, second = [json.loads(line) for line in exported.text.splitlines()]
    assert (first["verdict"], first["owner"], first["read_as"]["owner"]) == ("edited", "Ben Okafor", "Ada Byron")
    assert (first["due"], first["category"]) == ("2026-03-09", "Commitment")
    start, end = first["span"]
    assert first["text"][start:end] == first["quote"] == promise["evidence"][0]["quote"]
    assert "It rained." in first["text"]
    assert "Bremen" not in first["text"]
    assert (second["verdict"], second["category"]) == ("wrong", "Decision")

    page = await corrections.corrected(mnemon, Caller(tenant, ADA), read_input(corrections.corrected, {"limit": 1}))
    assert [one.event_id for one in page.items] == [first["event_id"]]
    asked = read_input(corrections.corrected, {"limit": 1, "cursor": page.next_cursor})
    rest = await corrections.corrected(mnemon, Caller(tenant, ADA), asked)
    assert ([one.event_id for one in rest.items], rest.next_cursor) == ([second["event_id"]], None)

    answer = await client.get("/v1/semantic-events/corrections/export", headers=user.headers)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
    assert answer.text == exported.text


async def test_corrections_come_in_over_rest(client: httpx.AsyncClient, user: Person, take: Take, found: Any) -> None:
    await take(BUDGET)
    [promise] = await found()
    place = f"/v1/semantic-events/{promise['event_id']}"
    answer = await client.post(f"{place}/mark", json={"verdict": "done"}, headers=user.headers)
    assert (answer.status_code, answer.json()["status"]) == (200, "done")
    answer = await client.patch(place, json={"due": "2026-03-20", "expected_version": 0}, headers=user.headers)
    assert (answer.status_code, answer.json()["error_code"]) == (409, "CONFLICT")
    answer = await client.patch(place, json={"due": "2026-03-20"}, headers=user.headers)
    assert answer.json()["due"] == "2026-03-20"
    answer = await client.post(f"{place}/undo", json={}, headers=user.headers)
    assert (answer.json()["due"], answer.json()["correction"]) == ("2026-03-09", ["done"])
    assert answer.json()["corrected_by"].startswith("user:")


@pytest.mark.parametrize("seed", [1, *(pytest.param(one, marks=pytest.mark.slow) for one in range(2, 13))])
async def test_replay_gives_the_same_rows_whatever_people_said_and_was_read(
    mnemon: Mnemon, tenant: UUID, take: Take, say: Say, found: Any, again: Any, replays: Any, seed: int
) -> None:
    chosen = random.Random(seed)
    texts = [BUDGET, "We decided to close the depot in Bremen.", "Ben Okafor will call the landlord.", "Ada sent it."]
    taken = {source: await take("\n\n".join(chosen.sample(texts, 3)), source_id=source) for source in ("a", "b")}

    async def speak() -> None:
        events = await found(all_revisions=True) + await found(status="dismissed", all_revisions=True)
        one, other = chosen.choice(events), chosen.choice(events)
        said: tuple[Operation[Any, Any], dict[str, Any]] = chosen.choice([
            (corrections.mark, {"verdict": chosen.choice(["confirm", "done", "reopen", "dismiss", "restore"])}),
            (corrections.edit, {"owner": chosen.choice(["Cleo", "Dan"]), "subject": chosen.choice(["loan", "quay"])}),
            (corrections.edit, {"category": chosen.choice(["Decision", "Commitment", "Change"])}),
            (corrections.merge, {"merged": [other["event_id"]]}),
            (corrections.split, {"quotes": one["evidence"][0]["quote"].split(" will ")}),
            (corrections.link, {"earlier": other["event_id"], "kind": "supersedes"}),
            (corrections.unlink, {"earlier": other["event_id"]}),
            (corrections.undo, {}),
        ])  # fmt: skip
        try:
            await say(said[0], one["event_id"], by=chosen.choice([ADA, BEN]), **said[1])
        except MnemonError:
            """Cannot be said of this one."""

    async def read_again() -> None:
        await again(taken[chosen.choice("ab")])

    async def write_anew() -> None:
        source = chosen.choice("ab")
        taken[source] = await take("\n\n".join(chosen.sample(texts, 3)), source_id=source)

    for _ in range(20):
        await chosen.choices([speak, read_again, write_anew], [12, 2, 1])[0]()
    assert await rows(mnemon, tenant, "SELECT FROM mnemon.event_corrections LIMIT 1")
    await replays()


async def test_a_changed_row_of_corrections_is_found(
    mnemon: Mnemon, tenant: UUID, take: Take, say: Say, found: Any
) -> None:
    await take(BUDGET)
    [promise] = await found()
    await say(corrections.edit, promise["event_id"], owner="Ben Okafor")
    await rows(mnemon, tenant, "UPDATE mnemon.event_corrections SET said_by = 'user:eve' RETURNING event_id")
    assert not (await mnemon.projector.verify(tenant, SEMANTICS.name)).matches


async def test_a_confirmed_suggestion_is_a_fact(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, say: Say, found: Any, replays: Any
) -> None:
    await take(BUDGET)
    # As an engine that is not sure gives it: everything that follows reads the column.
    await rows(mnemon, tenant, "UPDATE mnemon.semantic_events SET confidence = 0.4 RETURNING event_id")
    [promise] = await found()
    assert promise["suggestion"]
    assert (await open_commitments(mnemon.database, tenant, reader))["total"] == 0
    event = await say(corrections.mark, promise["event_id"], verdict="confirm")
    assert (event.suggestion, event.confidence) == (False, 1.0)
    assert (await open_commitments(mnemon.database, tenant, reader))["total"] == 1
    event = await say(corrections.undo, promise["event_id"])
    assert event.suggestion


def test_a_reading_at_another_place_is_not_taken_for_the_corrected_event() -> None:
    def read(start: int, end: int, category: str = "Decision") -> SemanticEvent:
        evidence = (Evidence(start, end, "x" * (end - start)),)
        name = event_id("rev", Category(category), evidence)
        return SemanticEvent(name, Category(category), "", Subject("x"), (), evidence, 0.9)

    def spoken_of(event: SemanticEvent) -> CorrectedEvent:
        return CorrectedEvent(event.event_id, event.category.value, event.evidence, True, {})

    before = read(10, 50)
    assert same_events([spoken_of(before)], [read(60, 90)]) == {}
    longer, other = read(5, 60), read(10, 50, "Change")
    assert same_events([spoken_of(before)], [other, longer]) == {before.event_id: longer.event_id}
    assert same_events([spoken_of(before)], [other]) == {before.event_id: other.event_id}
    # Of two that one reading stands for, only the likelier one is led on.
    assert len(same_events([spoken_of(before), spoken_of(read(40, 60))], [read(5, 60)])) == 1
