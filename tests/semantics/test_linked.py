"""Claims about what later events do to earlier ones, and about the past: changes, both clocks, replay and purge."""

from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.documents.access import Reader
from mnemon.documents.activation import deactivate
from mnemon.documents.artifact_names import uid_of
from mnemon.errors import Conflict, NotFound
from mnemon.semantics import audit
from mnemon.semantics.artifacts import Ingested, NewArtifact, ingest_artifact
from mnemon.semantics.audit import verify_evidence
from mnemon.semantics.extract.status import event_reextract
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.lens import SEMANTICS
from mnemon.semantics.search.export import as_csv, as_markdown
from mnemon.semantics.search.query import event_get, event_search
from mnemon.semantics.search.revision_changes import changes_between
from mnemon.semantics.search.views import open_commitments, people_topics
from tests.documents.conftest import rows
from tests.semantics.conftest import ADA, Added

Done = Callable[[], Awaitable[None]]
Take = Callable[..., Awaitable[Ingested]]
MARCH, APRIL, MAY = (datetime(2026, month, 2, 9, tzinfo=UTC) for month in (3, 4, 5))


@pytest.fixture
def take(mnemon: Mnemon, tenant: UUID) -> Take:
    async def ingest(content: str, ts: datetime, **fields: Any) -> Ingested:
        new = NewArtifact(artifact_type="note", source_system="test", content=content, ts=ts, **fields)
        return await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)

    return ingest


async def found(mnemon: Mnemon, tenant: UUID, reader: Reader, **filters: Any) -> list[dict[str, Any]]:
    answer = await event_search(mnemon.database, tenant, reader, EventFilters(**filters))
    events: list[dict[str, Any]] = answer["events"]
    return events


async def test_a_later_decision_in_another_document_supersedes_the_earlier_one(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    await take("We decided to use MySQL for the event store.", MARCH)
    await take("We decided to use Postgres instead of MySQL for the event store.", APRIL)
    await all_done()

    [old] = await found(mnemon, tenant, reader, category="Decision", status="superseded")
    assert "MySQL" in old["narrative"]
    whole = await event_get(mnemon.database, tenant, reader, old["event_id"])
    [link] = whole["links"]
    assert (link["kind"], link["earlier"]) == ("supersedes", old["event_id"])
    later = await event_get(mnemon.database, tenant, reader, link["later"])
    assert "Postgres" in later["evidence"][0]["quote"]


async def test_a_reversal_stands_when_its_document_is_changed_elsewhere(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    await take("We decided to use MySQL for the event store.", MARCH)
    reversal = "We decided to use Postgres instead of MySQL for the event store."
    for more in ("", "\nPlease bring cake.", "\nPlease bring cake and tea."):
        await take(reversal + more, APRIL, source_id="stores")
        await all_done()
        [old] = await found(mnemon, tenant, reader, category="Decision", status="superseded")
        assert old["narrative"].startswith("We decided to use MySQL")


async def test_the_order_of_ingestion_does_not_matter_only_the_dates_do(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    await take("We decided to use Postgres instead of MySQL for the event store.", APRIL)
    await all_done()
    await take("We decided to use MySQL for the event store.", MARCH)
    await all_done()

    [old] = await found(mnemon, tenant, reader, status="superseded")
    assert "Postgres" not in old["narrative"]


async def test_a_promise_that_was_kept_is_done_and_the_others_are_open(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    await take("Ada Byron will send the invoice by 9 March 2026.", MARCH)
    await take("Ben Okafor will call the landlord by 12 March 2026.", MARCH)
    await take("Ada Byron has sent the invoice.", APRIL)
    await all_done()

    view = await open_commitments(mnemon.database, tenant, reader, today=date(2026, 3, 20))
    [one] = view["commitments"]
    assert (one["owners"], one["due"], one["days_left"], one["overdue"]) == (["Ben Okafor"], "2026-03-12", -8, True)
    assert (await open_commitments(mnemon.database, tenant, reader, owner="Ada"))["total"] == 0
    [done] = await found(mnemon, tenant, reader, category="Commitment", status="done")
    assert "invoice" in done["narrative"]


async def test_as_of_tells_what_stood_then_and_known_at_what_we_knew_then(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    await take("We decided to use MySQL for the event store.", MARCH)
    await all_done()
    before = (await rows(mnemon, tenant, "SELECT clock_timestamp() AS now"))[0]["now"]
    await take("We decided to use Postgres instead of MySQL for the event store.", MAY)
    await all_done()

    async def standing(**clock: Any) -> list[str]:
        return [event["narrative"] for event in await found(mnemon, tenant, reader, status="open", **clock)]

    assert ["Postgres" in one for one in await standing()] == [True]
    assert ["Postgres" in one for one in await standing(as_of=APRIL)] == [False]
    assert ["Postgres" in one for one in await standing(known_at=before)] == [False]
    assert ["Postgres" in one for one in await standing(known_at=datetime.now(UTC))] == [True]


@pytest.mark.parametrize("clock", ["as_of", "known_at"])
async def test_a_status_is_that_of_the_time_that_is_asked_about(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done, clock: str
) -> None:
    await take("We decided to use MySQL for the event store.", MARCH)
    await all_done()
    [row] = await rows(mnemon, tenant, "SELECT clock_timestamp() AS now")
    await take("We decided to use Postgres instead of MySQL for the event store.", MAY)
    await all_done()

    moment = APRIL if clock == "as_of" else row["now"]
    then = await found(mnemon, tenant, reader, query="MySQL", **{clock: moment})
    assert [(event["status"], "Postgres" in event["narrative"]) for event in then] == [("open", False)]
    [old] = [event for event in await found(mnemon, tenant, reader) if "Postgres" not in event["narrative"]]
    assert old["status"] == "superseded"


async def test_between_two_revisions_the_earlier_one_stood(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    kept = "On 1 March 2026 we decided to rent the blue office."
    await take(f"{kept}\nDecision: backups are kept for 30 days.", MARCH, source_id="policy")
    await all_done()
    await take(f"{kept}\nDecision: backups are kept for 90 days.", MAY, source_id="policy")
    await all_done()

    async def days(**filters: Any) -> list[str]:
        events = await found(mnemon, tenant, reader, **filters)
        return sorted(word for event in events for word in ("30", "90", "office") if word in event["narrative"])

    # What both say is told once.
    assert await days(as_of=APRIL) == ["30", "office"]
    assert await days(as_of=APRIL, query="backups") == ["30"]
    assert await days(as_of=APRIL, query="backups", status="open") == ["30"]
    assert await days(as_of=APRIL, status="superseded") == []
    # On both clocks: what we know today of that day, and what we knew before any of it was read.
    assert await days(as_of=APRIL, known_at=datetime.now(UTC)) == ["30", "office"]
    assert await days(as_of=APRIL, known_at=MARCH) == []
    assert await days(as_of=MAY + timedelta(days=1)) == ["90", "office"]
    assert await days() == ["90", "office"]


async def test_what_a_replaced_revision_had_ended_was_ended_then(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    await take("We decided to use MySQL for the event store.", MARCH)
    await take("We decided to use Postgres instead of MySQL for the event store.", APRIL, source_id="stores")
    await all_done()
    await take("Nothing is decided about the event store.", MAY, source_id="stores")
    await all_done()

    moment = APRIL + timedelta(days=1)
    [ended] = await found(mnemon, tenant, reader, as_of=moment, status="superseded")
    assert ("Postgres" in ended["narrative"], ended["status"]) == (False, "superseded")
    [standing] = await found(mnemon, tenant, reader, as_of=moment, status="open")
    assert "Postgres" in standing["narrative"]
    [today] = await found(mnemon, tenant, reader, category="Decision", status="open")
    assert "Postgres" not in today["narrative"]


async def test_a_document_out_of_service_tells_nothing_of_any_time(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    await take("Decision: backups are kept for 30 days.", MARCH, source_id="policy")
    await all_done()
    second = await take("Decision: backups are kept for 90 days.", MAY, source_id="policy")
    await all_done()
    await deactivate(mnemon.log, tenant, ADA, second.doc_id)
    assert await found(mnemon, tenant, reader, as_of=APRIL) == []


async def test_what_was_not_read_yet_was_not_known(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    await take("We decided to use MySQL for the event store.", MARCH)
    [row] = await rows(mnemon, tenant, "SELECT clock_timestamp() AS now")
    await all_done()
    assert await found(mnemon, tenant, reader, known_at=row["now"]) == []
    assert len(await found(mnemon, tenant, reader, known_at=datetime.now(UTC))) == 1


@pytest.mark.parametrize("number", range(4))
async def test_of_two_revisions_of_one_day_the_one_that_came_later_supersedes(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done, number: int
) -> None:
    await take(f"Decision: launch {number} on 3 May.", MARCH, source_id="plan")
    await all_done()
    await take(f"Decision: launch {number} on 10 June.", MARCH, source_id="plan")
    await all_done()

    [old] = await found(mnemon, tenant, reader, status="superseded")
    assert "3 May" in old["narrative"]


async def test_a_link_keeps_no_words_of_a_document_that_was_purged(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    later = await take("We decided to use Postgres instead of the zeppelin database.", APRIL)
    await all_done()
    await take("We decided to use the zeppelin database.", MARCH)
    await all_done()
    [link] = await rows(mnemon, tenant, "SELECT * FROM mnemon.event_links")
    assert link["kind"] == "supersedes"
    assert "zeppelin" not in link["reason"], "these words are of the other document, which may go"

    await mnemon.purge_document(tenant, ADA, later.doc_id)
    [left] = await found(mnemon, tenant, reader)
    assert left["status"] == "open"


async def test_changes_between_revisions_are_added_dropped_and_changed(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    first = "We decided to close the Bergen office.\n\nAda Byron will send the budget by 9 March 2026.\n"
    second = "We decided to buy two servers.\n\nAda Byron will send the budget by 16 March 2026.\n"
    one = await take(first, MARCH, source_id="minutes")
    await take(second, APRIL, source_id="minutes")
    await all_done()

    told = await changes_between(mnemon.database, tenant, reader, one.artifact_uid)

    assert ["servers" in event["narrative"] for event in told["added"]] == [True]
    assert ["Bergen" in event["narrative"] for event in told["dropped"]] == [True]
    [changed] = told["changed"]
    assert "due" in changed["fields"]
    assert (changed["before"]["due"], changed["after"]["due"]) == ("2026-03-09", "2026-03-16")


async def test_a_content_that_comes_back_is_the_latest_again(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    first = await take("We decided to use MySQL.", MARCH, source_id="page")
    await take("We decided to use Postgres.", APRIL, source_id="page")
    await all_done()
    again = await take("We decided to use MySQL.", MAY, source_id="page")

    assert (again.status, again.revision_id) == ("restored", first.revision_id)
    [now] = await found(mnemon, tenant, reader, category="Decision")
    assert "MySQL" in now["narrative"]


async def test_changes_lead_from_what_was_served_before_also_to_a_content_that_came_back(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    texts = ["We decided to use MySQL.", "We decided to paint the roof.", "We decided to buy two servers."]
    first, second, third = [await take(text, MARCH, source_id="page") for text in texts]
    await all_done()
    assert (await take(texts[0], MAY, source_id="page")).status == "restored"

    async def told(after: str | None = None) -> tuple[str, str]:
        found = await changes_between(mnemon.database, tenant, reader, first.artifact_uid, after=after)
        return found["before"], found["after"]

    assert await told() == (third.revision_id, first.revision_id)
    assert await told(second.revision_id) == (first.revision_id, second.revision_id)
    assert await told("3") == (second.revision_id, third.revision_id)


async def test_a_revision_that_was_not_read_yet_did_not_drop_everything(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    one = await take("We decided to use MySQL.", MARCH, source_id="page")
    two = await take("We decided to use MySQL now.", APRIL, source_id="page")
    with pytest.raises(Conflict, match="not read yet"):
        await changes_between(mnemon.database, tenant, reader, one.artifact_uid)
    await all_done()
    assert (await changes_between(mnemon.database, tenant, reader, one.artifact_uid))["after"] == two.revision_id


async def test_changes_of_what_has_no_second_revision_or_none_yet_say_so(
    mnemon: Mnemon, tenant: UUID, take: Take, added: Added
) -> None:
    one = await take("We decided to use MySQL.", MARCH)
    unread = uid_of(await added("We decided to use Postgres."), "upload://")
    for uid, says in ((one.artifact_uid, "no revision before rev_"), (unread, "was not read yet")):
        with pytest.raises(NotFound, match=says):
            await changes_between(mnemon.database, tenant, Reader.of(ADA), uid)


async def test_people_and_topics_say_who_was_involved(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    await take("Ada Byron will send the invoice by 9 March 2026.", MARCH)
    await all_done()
    view = await people_topics(mnemon.database, tenant, reader, person="ada")
    assert [(row["person"], row["events"]) for row in view["people"]] == [("Ada Byron", 1)]
    assert (await people_topics(mnemon.database, tenant, reader, topic="landlord"))["people"] == []


async def test_a_repeated_extraction_gives_the_same_events_and_keeps_the_history(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    one = await take("We decided to use Postgres.", MARCH)
    await all_done()
    before = await found(mnemon, tenant, reader)
    done = await event_reextract(mnemon.database, tenant, reader, one.artifact_uid)
    assert done["status"] == "DONE"
    await event_reextract(mnemon.database, tenant, reader, one.artifact_uid, force=True)
    await all_done()
    assert await found(mnemon, tenant, reader) == before
    assert (await rows(mnemon, tenant, "SELECT count(*) AS n FROM mnemon.extractions"))[0]["n"] == 2


async def test_replay_gives_the_same_rows_also_after_a_purge(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    await take("We decided to use MySQL for the event store.", MARCH)
    later = await take("We decided to use Postgres instead of MySQL for the event store.", APRIL)
    await all_done()
    hashed = await mnemon.projector.state_hash(tenant, SEMANTICS.name)
    assert (await mnemon.projector.rebuild(tenant, SEMANTICS.name)).state_hash == hashed

    await mnemon.purge_document(tenant, ADA, later.doc_id)

    hashed = await mnemon.projector.state_hash(tenant, SEMANTICS.name)
    assert (await mnemon.projector.rebuild(tenant, SEMANTICS.name)).state_hash == hashed
    [left] = await found(mnemon, tenant, reader)
    assert (left["status"], "MySQL" in left["narrative"]) == ("open", True)
    for table in ("semantic_events", "event_evidence", "event_links", "extractions", "documents", "document_revisions"):
        whole = str(await rows(mnemon, tenant, f"SELECT * FROM mnemon.{table}"))
        assert "Postgres" not in whole, table


async def test_another_tenant_finds_nothing(
    mnemon: Mnemon, tenant: UUID, other_tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    one = await take("We decided to use Postgres.", MARCH, visibility_scope="org")
    await all_done()
    [event] = await found(mnemon, tenant, reader)
    assert await found(mnemon, other_tenant, reader) == []
    assert await found(mnemon, other_tenant, reader, query="Postgres") == []
    with pytest.raises(NotFound):
        await event_get(mnemon.database, other_tenant, reader, event["event_id"])
    with pytest.raises(NotFound):
        await changes_between(mnemon.database, other_tenant, reader, one.artifact_uid)


async def test_pages_follow_each_other_without_a_gap(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    await take(
        "\n\n".join(f"We decided to open office number {number} in town {number}." for number in range(7)), MARCH
    )
    await all_done()
    for query in (None, "office"):
        seen, cursor = [], None
        while True:
            page = await event_search(
                mnemon.database, tenant, reader, EventFilters(query=query), limit=3, cursor=cursor
            )
            assert page["total"] == 7
            seen += [event["event_id"] for event in page["events"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == 7


async def test_an_audit_finds_a_quote_that_was_tampered_with(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done
) -> None:
    await take("We decided to use Postgres.", MARCH)
    await all_done()
    audited = await verify_evidence(mnemon.database, tenant)
    assert (audited.holds, audited.events, audited.quotes) == (True, 1, 1)
    async with mnemon.database.transaction(tenant) as tx:
        await tx.execute("UPDATE mnemon.event_evidence SET quote = replace(quote, 'Postgres', 'Mongo-db')")
    assert not (await verify_evidence(mnemon.database, tenant)).holds


@pytest.mark.parametrize("lost", ["event_evidence", "revision_texts"])
async def test_an_audit_misses_no_event_whose_quotes_or_text_are_lost(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    # A page at a time, as with many revisions.
    monkeypatch.setattr(audit, "REVISIONS", audit.REVISIONS.replace("LIMIT 200", "LIMIT 1"))
    for number in range(3):
        await take(f"We decided to open office {number}.", MARCH)
    await all_done()
    whole = await verify_evidence(mnemon.database, tenant)
    assert (whole.holds, whole.revisions, whole.quotes) == (True, 3, 3)
    last = "(SELECT max(doc_version_id::text)::uuid FROM mnemon.semantic_events)"
    async with mnemon.database.transaction(tenant) as tx:
        await tx.execute(f"DELETE FROM mnemon.{lost} WHERE doc_version_id = {last}")
    audited = await verify_evidence(mnemon.database, tenant)
    assert (audited.holds, audited.events, audited.broken_quotes) == (False, 3, 1)


async def test_exports_hold_every_quote_and_no_formula(
    mnemon: Mnemon, tenant: UUID, reader: Reader, take: Take, all_done: Done
) -> None:
    await take("We decided to use *Postgres* <b>now</b>.", MARCH, title="=HYPERLINK(1)")
    await all_done()
    events = await found(mnemon, tenant, reader)
    assert "'=HYPERLINK(1)" in as_csv(events)
    assert events[0]["evidence"][0]["quote"] in as_csv(events)
    assert "<b>" not in as_markdown(events).replace("\\<b", "")
