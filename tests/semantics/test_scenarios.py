"""The five stories of the tools' contract, from an artifact to its events, with the real worker."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.documents.access import Reader
from mnemon.models.failures import ModelKeyRefused
from mnemon.semantics.artifact_reading import artifact_get
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact
from mnemon.semantics.extract import job as extraction_job
from mnemon.semantics.extract.status import event_reextract, job_status
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.lens import SEMANTICS
from mnemon.semantics.search.query import event_list_for_revision, event_search
from tests.documents.conftest import rows
from tests.semantics.conftest import ADA

Done = Callable[[], Awaitable[None]]
Ingest = Callable[..., Awaitable[dict[str, Any]]]
FILLER = "The committee went through the figures of the quarter line by line and found them in good order. "


@pytest.fixture
def ingest(mnemon: Mnemon, tenant: UUID) -> Ingest:
    async def take(content: str, artifact_type: str = "note", **fields: Any) -> dict[str, Any]:
        new = NewArtifact(artifact_type=artifact_type, source_system="test", content=content, **fields)
        return (await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)).as_json()

    return take


async def test_a_small_artifact_becomes_an_event_with_its_words(
    mnemon: Mnemon, tenant: UUID, reader: Reader, ingest: Ingest, all_done: Done
) -> None:
    result = await ingest("Decision: We will use Postgres for event storage starting Monday.")
    assert (result["is_chunked"], result["job_status"]) == (False, "PENDING")
    job = await job_status(mnemon.database, tenant, reader, result["artifact_uid"])
    assert (job["status"], job["job_id"]) == ("PENDING", result["job_id"])

    await all_done()

    found = await event_search(mnemon.database, tenant, reader, EventFilters(query="Postgres", category="Decision"))
    event = found["events"][0]
    assert "Postgres" in event["narrative"]
    assert "Postgres" in event["evidence"][0]["quote"]
    assert event["evidence"][0]["chunk_id"] is None
    job = await job_status(mnemon.database, tenant, reader, result["artifact_uid"])
    assert (job["status"], job["attempts"], job["next_run_at"], job["last_error_code"]) == ("DONE", 1, None, None)


@pytest.mark.parametrize(
    ("said_at", "due"),
    [
        ("2026-03-02T00:30:00+14:00", "2026-03-03"),
        ("2026-03-02T20:30:00-08:00", "2026-03-03"),
        ("2026-03-02T12:30:00+01:00", "2026-03-03"),
    ],
)
async def test_tomorrow_is_counted_on_the_authors_calendar(
    mnemon: Mnemon, tenant: UUID, reader: Reader, ingest: Ingest, all_done: Done, said_at: str, due: str
) -> None:
    text = "Ada Byron will send the budget tomorrow.\n\nYesterday we decided to close the Bergen office."
    await ingest(text, ts=datetime.fromisoformat(said_at))
    await all_done()
    found = (await event_search(mnemon.database, tenant, reader))["events"]
    assert [event["due"] for event in found if event["category"] == "Commitment"] == [due]
    assert [event["event_time"][:10] for event in found if event["category"] == "Decision"] == ["2026-03-01"]


async def test_what_the_sender_says_comes_before_what_the_text_seems_to_say(
    mnemon: Mnemon, tenant: UUID, reader: Reader, ingest: Ingest, all_done: Done
) -> None:
    text = "Weekly meeting\n\nDate: 2025-01-06\nPresent: Cyd Frost\n\nI will send the budget tomorrow.\n"
    told = {"title": "Standup", "author": "Ada Byron", "participants": ("Ada Byron", "Ben Okafor")}
    result = await ingest(text, ts=datetime(2026, 3, 2, tzinfo=UTC), **told)
    await all_done()
    kept = await artifact_get(mnemon.database, tenant, reader, result["artifact_uid"])
    assert (kept["title"], kept["source_ts"]) == ("Standup", "2026-03-02T00:00:00Z")
    [event] = (await event_search(mnemon.database, tenant, reader))["events"]
    assert ([one["ref"] for one in event["actors"]], event["due"]) == (["Ada Byron"], "2026-03-03")
    [version] = await rows(mnemon, tenant, "SELECT authors, participants FROM mnemon.document_revisions")
    assert version == {"authors": ["Ada Byron"], "participants": ["Ada Byron", "Ben Okafor"]}
    # What the sender leaves out, the text may tell.
    plain = await ingest(text.replace("I will", "Cyd Frost will"))
    kept = await artifact_get(mnemon.database, tenant, reader, plain["artifact_uid"])
    assert kept["source_ts"] == "2025-01-06T00:00:00Z"


async def test_a_large_artifact_is_chunked_and_every_quote_names_its_chunk(
    mnemon: Mnemon, tenant: UUID, reader: Reader, ingest: Ingest, all_done: Done
) -> None:
    said = (
        "We decided to move the archive to Oslo.", "We decided to close the Bergen office.",
        "We decided to buy two more servers.", "Ada Byron will send the budget by 9 March 2026.",
        "Ben Okafor will call the landlord by 12 March 2026.",
    )  # fmt: skip
    result = await ingest("\n\n".join(FILLER * 30 + one for one in said), "doc")
    assert result["is_chunked"]
    assert result["num_chunks"] >= 3
    assert len(result["stored_ids"]) == result["num_chunks"] + 1

    await all_done()

    listed = await event_list_for_revision(
        mnemon.database, tenant, reader, result["artifact_uid"], include_evidence=True
    )
    assert listed["total"] >= 5
    decisions = [event for event in listed["events"] if event["category"] == "Decision"]
    assert len(decisions) >= 3
    chunks = {one["chunk_id"] for event in decisions for one in event["evidence"]}
    assert len(chunks) >= 3
    assert chunks <= set(result["stored_ids"])


async def test_a_long_text_is_acknowledged_before_its_chunks_are_counted(
    mnemon: Mnemon, tenant: UUID, reader: Reader, ingest: Ingest, all_done: Done
) -> None:
    said = "{words} office number {n}. The committee went through the figures line by line.\n\n"
    # Of all that is said, few paragraphs say something that is compared with the others.
    words = ["We decided to keep", *["This was about the"] * 9]
    content = "".join(said.format(words=words[number % 10], n=number) for number in range(400))
    result = await ingest(content, source_id="long")
    assert (result["is_chunked"], result["num_chunks"]) == (True, None)
    assert result["stored_ids"] == [result["artifact_id"]]
    before = await artifact_get(mnemon.database, tenant, reader, result["artifact_uid"])
    assert (before["is_chunked"], before["chunk_count"], before["token_count"]) == (True, None, None)

    await all_done()

    after = await artifact_get(mnemon.database, tenant, reader, result["artifact_uid"])
    [stored] = await rows(mnemon, tenant, "SELECT count(*) AS chunks, sum(tokens) AS tokens FROM mnemon.chunks")
    assert (after["chunk_count"], after["token_count"]) == (stored["chunks"], stored["tokens"])
    assert stored["chunks"] > 1
    hashed = await mnemon.projector.state_hash(tenant, SEMANTICS.name)
    assert (await mnemon.projector.rebuild(tenant, SEMANTICS.name)).state_hash == hashed
    again = await ingest(content, source_id="long")
    assert (again["status"], again["num_chunks"]) == ("unchanged", stored["chunks"])


async def test_the_same_content_again_changes_nothing(
    mnemon: Mnemon, tenant: UUID, ingest: Ingest, all_done: Done
) -> None:
    first = await ingest("Decision: Use Postgres.", source_id="test_doc_1")
    await all_done()
    second = await ingest("Decision: Use Postgres.", source_id="test_doc_1")

    assert second["revision_id"] == first["revision_id"]
    assert (second["status"], second["job_status"], second["job_id"]) == ("unchanged", "N/A", None)
    async with mnemon.database.transaction(tenant) as tx:
        jobs = await (await tx.execute("SELECT FROM mnemon.jobs WHERE kind = 'semantics.extract'")).fetchall()
    assert len(jobs) == 1


async def test_a_new_revision_has_events_of_its_own_and_the_old_ones_stay(
    mnemon: Mnemon, tenant: UUID, reader: Reader, ingest: Ingest, all_done: Done
) -> None:
    first = await ingest("Decision: Use MySQL.", source_id="test_doc_1")
    await all_done()
    second = await ingest("Decision: Actually, use Postgres instead.", source_id="test_doc_1")
    await all_done()

    assert second["artifact_uid"] == first["artifact_uid"]
    assert second["revision_id"] != first["revision_id"]
    uid = first["artifact_uid"]
    old = await event_list_for_revision(mnemon.database, tenant, reader, uid, first["revision_id"])
    new = await event_list_for_revision(mnemon.database, tenant, reader, uid)
    assert (old["is_latest"], new["is_latest"]) == (False, True)
    assert any("MySQL" in event["narrative"] for event in old["events"])
    assert any("Postgres" in event["narrative"] for event in new["events"])
    assert {event["status"] for event in old["events"]} == {"superseded"}


async def test_a_failed_model_leaves_no_events_and_a_forced_extraction_mends_it(
    mnemon: Mnemon, tenant: UUID, reader: Reader, ingest: Ingest, all_done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> object:
        raise ModelKeyRefused("The key sk-invalid is not accepted.")

    with monkeypatch.context() as broken:
        broken.setattr(extraction_job, "choose_extractor", refused)
        result = await ingest("Decision: Test failure handling.")
        await all_done()
        job = await job_status(mnemon.database, tenant, reader, result["artifact_uid"])
        assert (job["status"], job["last_error_code"]) == ("FAILED", "OPENAI_INVALID_KEY")
        assert "sk-invalid" in job["last_error_message"]
        listed = await event_list_for_revision(mnemon.database, tenant, reader, result["artifact_uid"])
        assert listed["total"] == 0

    again = await event_reextract(mnemon.database, tenant, reader, result["artifact_uid"], force=True)
    assert again["status"] == "PENDING"
    await all_done()
    listed = await event_list_for_revision(mnemon.database, tenant, reader, result["artifact_uid"])
    assert listed["total"] >= 1
