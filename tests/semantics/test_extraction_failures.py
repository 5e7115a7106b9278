"""Claims about what happens when extraction fails: nothing half-written, errors named, work done once."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.documents.access import Reader
from mnemon.documents.ingest.extract_job import EXTRACT
from mnemon.documents.intake import settle
from mnemon.errors import InvalidRequest, MnemonError
from mnemon.models.failures import ModelRateLimited
from mnemon.operations import read_input
from mnemon.semantics import operations
from mnemon.semantics.artifacts import Ingested, NewArtifact, ingest_artifact
from mnemon.semantics.extract import job as extraction_job
from mnemon.semantics.extract.status import event_reextract, job_status, never_read
from mnemon.semantics.search.query import event_list_for_revision, event_search
from tests.documents.conftest import files_below, rows
from tests.semantics.conftest import ADA

Done = Callable[[], Awaitable[None]]
TEXT = "We decided to use Postgres."
EAST, WEST = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))


async def take(mnemon: Mnemon, tenant: UUID, content: str = TEXT, **fields: Any) -> Ingested:
    new = NewArtifact(artifact_type="note", source_system="test", content=content, **fields)
    return await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)


async def test_a_rate_limit_is_retried_until_the_attempts_are_spent(
    mnemon: Mnemon, tenant: UUID, reader: Reader, all_done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def limited(_: object, model: object, asking: UUID) -> object:
        # Other tests leave jobs of their own tenants behind.
        if asking == tenant:
            calls.append(1)
        raise ModelRateLimited("429: slow down.", retry_after=0)

    monkeypatch.setattr(extraction_job, "choose_extractor", limited)
    one = await take(mnemon, tenant)
    await all_done()
    job = await job_status(mnemon.database, tenant, reader, one.artifact_uid)
    assert (job["status"], job["last_error_code"]) == ("FAILED", "MAX_ATTEMPTS_EXCEEDED")
    assert "OPENAI_RATE_LIMIT" in job["last_error_message"]
    assert job["attempts"] == job["max_attempts"] == len(calls)
    monkeypatch.undo()
    other = await take(mnemon, tenant, "We decided to paint the boat.")
    await all_done()
    assert await never_read(mnemon.database, tenant, [one.doc_id, other.doc_id]) == {one.doc_id}


async def test_a_failed_repetition_leaves_the_old_events_in_place(
    mnemon: Mnemon, tenant: UUID, reader: Reader, all_done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await take(mnemon, tenant)
    await all_done()
    before = await event_list_for_revision(mnemon.database, tenant, reader, one.artifact_uid)

    async def failing(*_: object) -> list[object]:
        raise MnemonError("Linking broke.")

    monkeypatch.setattr(extraction_job, "links_of", failing)
    await event_reextract(mnemon.database, tenant, reader, one.artifact_uid, force=True)
    await all_done()
    assert await event_list_for_revision(mnemon.database, tenant, reader, one.artifact_uid) == before
    assert before["total"] == 1


async def test_an_ingest_that_fails_leaves_nothing_behind(
    mnemon: Mnemon, tenant: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(*_: object, **__: object) -> object:
        raise MnemonError("The job could not be added.")

    monkeypatch.setattr(settle, "enqueue_extraction", failing)
    with pytest.raises(MnemonError):
        await take(mnemon, tenant)
    for table in ("documents", "document_revisions", "revision_texts", "jobs"):
        assert await rows(mnemon, tenant, f"SELECT FROM mnemon.{table}") == [], table
    assert files_below(mnemon.files.uploads) == []


async def test_many_at_once_of_the_same_source_make_one_artifact_and_one_job(mnemon: Mnemon, tenant: UUID) -> None:
    taken = await asyncio.gather(*(take(mnemon, tenant, source_id="page") for _ in range(6)))
    assert sorted(one.status for one in taken) == ["new", *["unchanged"] * 5]
    assert len(await rows(mnemon, tenant, "SELECT FROM mnemon.jobs WHERE kind = %s", EXTRACT.name)) == 1


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"artifact_type": "song"}, "Invalid artifact_type: song"),
        ({"visibility_scope": "all"}, "Invalid visibility_scope"),
        ({"visibility_scope": "custom"}, "needs readers"),
        ({"visibility_scope": "org", "readers": ("user:ben",)}, "readers go with visibility_scope custom or team"),
        ({"visibility_scope": "me", "readers": ("user:ben",)}, "readers go with visibility_scope custom or team"),
        ({"ts": datetime(1, 1, 1, tzinfo=EAST)}, r"ts 0001-01-01T00:00:00\+14:00 is outside"),
        ({"retention_policy": "custom", "retain_until": datetime(9999, 12, 31, 23, tzinfo=WEST)}, "retain_until 9999"),
        ({"retention_policy": "custom"}, "retain_until"),
        ({"content": " \n"}, "content is empty"),
        ({"title": "x" * 501}, "title has at most"),
    ],
)
async def test_what_cannot_be_kept_is_refused_with_the_field(
    mnemon: Mnemon, tenant: UUID, fields: dict[str, Any], says: str
) -> None:
    given = {"artifact_type": "note", "source_system": "test", "content": TEXT} | fields
    with pytest.raises(InvalidRequest, match=says):
        await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, NewArtifact(**given))


async def test_an_unknown_category_is_answered_with_the_known_ones(
    mnemon: Mnemon, tenant: UUID, reader: Reader
) -> None:
    with pytest.raises(InvalidRequest, match=r"Invalid category: BadCategory\. Must be one of: Commitment"):
        read_input(operations.search, {"category": "BadCategory"})
    with pytest.raises(InvalidRequest, match="cursor"):
        await event_search(mnemon.database, tenant, reader, cursor="no cursor")


async def test_a_document_purged_before_it_was_read_ends_its_job(mnemon: Mnemon, tenant: UUID, all_done: Done) -> None:
    one = await take(mnemon, tenant)
    await mnemon.purge_document(tenant, ADA, one.doc_id)
    await all_done()
    [job] = await rows(mnemon, tenant, "SELECT status, last_error_code FROM mnemon.jobs WHERE kind = %s", EXTRACT.name)
    assert job == {"status": "FAILED", "last_error_code": "ARTIFACT_NOT_FOUND"}
