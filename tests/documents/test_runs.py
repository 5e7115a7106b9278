"""Runs: a run is what its job is, ends with a reason, and can be followed and retried."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import numpy as np
import pytest

from mnemon.app import Mnemon
from mnemon.documents import failures
from mnemon.documents.extraction import isolated
from mnemon.documents.ingest import job as ingest
from mnemon.documents.ingest import reader
from mnemon.documents.ingest.job import INGEST
from mnemon.identity.roles import Role
from mnemon.ids import new_uuid
from mnemon.log.read.streams import Stream
from mnemon.models.embedder import Purpose, Vectors
from mnemon.models.failures import EmbedderUnavailable
from mnemon.work.errors import LeaseLost
from mnemon.work.job import Job
from tests.api.conftest import Person, person
from tests.documents import hostile
from tests.documents.conftest import Ingested, RunReaches, Upload, Work, files_below, rows
from tests.patience import PATIENCE
from tests.work.conftest import Eventually

NO_TEXT = " \n \n"


class Gate:
    """An embedder that waits to be let through, or fails."""

    model_id, dimension, source = "gate@1", 3, "test"

    def __init__(self, failure: Exception | None = None) -> None:
        self.reached, self.open, self.failure = asyncio.Event(), asyncio.Event(), failure

    async def embed(self, texts: Sequence[str], purpose: Purpose = "bulk") -> Vectors:
        self.reached.set()
        if self.failure:
            raise self.failure
        await self.open.wait()
        return np.ones((len(texts), 3), dtype=np.float32)

    async def close(self) -> None:
        self.open.set()


async def events_of(mnemon: Mnemon, tenant: UUID, doc_id: str) -> list[str]:
    page = await mnemon.log.read_page(tenant, Stream.of_entity("document", doc_id))
    return [event.type.removeprefix("document.") for event in page.events]


async def test_a_run_goes_from_queued_through_its_stages_to_succeeded(
    upload: Upload, work: Work, run_reaches: RunReaches, eventually: Eventually, mnemon: Mnemon, tenant: UUID
) -> None:
    gate = mnemon.__dict__["embedder"] = Gate()
    told = (await upload("Some text.")).json()
    assert (await run_reaches(told["run_id"], "queued"))["started_at"] is None
    await work()
    async with asyncio.timeout(PATIENCE):
        await gate.reached.wait()

    async def embedding() -> dict[str, Any] | None:
        """It is told once it has lasted; on a busy machine the stage before may have lasted too."""
        run = await run_reaches(told["run_id"], "running")
        return run if run["stage"] == "embed" else None

    running = await eventually(embedding)
    assert (running["stage"], running["attempts"], running["finished_at"]) == ("embed", 1, None)
    assert running["updated_at"] > running["started_at"] >= running["created_at"]
    gate.open.set()
    done = await run_reaches(told["run_id"], "succeeded", "failed")
    assert (done["status"], done["stage"], done["error"]) == ("succeeded", None, None)
    assert done["updated_at"] >= running["updated_at"]
    assert done["stats"].keys() >= {"extract_ms", "chunk_ms", "embed_ms", "fts_ms", "db_write_ms"}
    (vector,) = await rows(mnemon, tenant, "SELECT model_id FROM mnemon.chunk_vectors")
    assert vector["model_id"] == "gate@1"
    assert await events_of(mnemon, tenant, told["doc_id"]) == ["accepted", "ingested"]


async def test_an_unreadable_file_fails_its_run_with_the_reason_on_record(
    ingested: Ingested, mnemon: Mnemon, tenant: UUID, eventually: Eventually
) -> None:
    run = await ingested(NO_TEXT)
    assert (run["status"], run["error_code"], run["attempts"]) == ("failed", "EXTRACTION_FAILED", 1)
    assert "no text" in run["error"]
    assert run["finished_at"] and run["doc_version_id"] is None

    async def recorded() -> bool:
        return await events_of(mnemon, tenant, run["doc_id"]) == ["accepted", "failed"]

    assert await eventually(recorded)
    page = await mnemon.log.read_page(tenant, Stream.of_entity("document", run["doc_id"]))
    assert page.events[1].data["error"] == run["error"]
    # Kept, so that the run can be retried.
    assert len(files_below(mnemon.files.uploads)) == 1
    assert files_below(mnemon.files.blobs) == []


@pytest.fixture
def hostile_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    monkeypatch.setattr(reader, "read_file", hostile.read_hostile)


@pytest.mark.usefixtures("hostile_reader")
async def test_a_file_that_kills_its_reader_is_given_up_and_others_go_on(
    upload: Upload, work: Work, run_reaches: RunReaches
) -> None:
    killer = (await upload("KILL")).json()
    await work(slots=1)
    harmless = (await upload("I come after the killer.")).json()
    dead = await run_reaches(killer["run_id"], "failed", "succeeded")
    assert (dead["status"], dead["error_code"], dead["attempts"]) == ("failed", "MAX_ATTEMPTS_EXCEEDED", 3)
    assert "PROCESS_DIED" in dead["error"] and "SIGSEGV" in dead["error"]
    assert (await run_reaches(harmless["run_id"], "failed", "succeeded"))["status"] == "succeeded"


@pytest.mark.usefixtures("hostile_reader")
async def test_a_crash_a_hog_and_an_endless_loop_harm_no_file_between_them(
    upload: Upload, work: Work, run_reaches: RunReaches, mnemon: Mnemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(INGEST, "attempts", 1)
    limits = {"extract_seconds": 3, "extract_memory_mb": 600}
    monkeypatch.setattr(mnemon, "settings", mnemon.settings.model_copy(update=limits))
    # However long the processor is somebody else's, a file has its own time of it.
    monkeypatch.setattr(isolated, "WAITING_TOO", 600)
    texts = ["One.", "KILL", "Two.", "HOG", "Three.", "LOOP", "Four."]
    told = [(await upload(text)).json() for text in texts]
    await work(slots=2)
    ended = [await run_reaches(one["run_id"], "failed", "succeeded") for one in told]
    assert [run["status"] for run in ended] == ["succeeded", "failed"] * 3 + ["succeeded"]
    for run, reason in zip(ended[1::2], ("PROCESS_DIED", "memory", "processor time"), strict=True):
        assert reason in run["error"]


@pytest.mark.usefixtures("hostile_reader")
async def test_a_file_that_never_ends_is_stopped(
    upload: Upload, work: Work, run_reaches: RunReaches, mnemon: Mnemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(INGEST, "attempts", 1)
    monkeypatch.setattr(isolated, "WAITING_TOO", 1)
    monkeypatch.setattr(mnemon, "settings", mnemon.settings.model_copy(update={"extract_seconds": 1}))
    told = (await upload("HANG")).json()
    await work()
    run = await run_reaches(told["run_id"], "failed", "succeeded")
    assert run["status"] == "failed" and "TIME_LIMIT" in run["error"]


@pytest.mark.usefixtures("hostile_reader")
async def test_a_file_that_uses_up_its_processor_time_is_not_tried_again(
    upload: Upload, work: Work, run_reaches: RunReaches, mnemon: Mnemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mnemon, "settings", mnemon.settings.model_copy(update={"extract_seconds": 1}))
    monkeypatch.setattr(isolated, "WAITING_TOO", 600)
    told = (await upload("LOOP")).json()
    await work(slots=1)
    run = await run_reaches(told["run_id"], "failed", "succeeded")
    assert (run["status"], run["error_code"], run["attempts"]) == ("failed", "EXTRACTION_FAILED", 1)
    assert "1 s of processor time" in run["error"] and "MNEMON_EXTRACT_SECONDS" in run["error"]


@pytest.mark.parametrize(("retry", "attempts"), [(True, 3), (False, 1)])
async def test_an_embedder_that_is_down_is_tried_again_and_then_the_text_is_stored_without_vectors(
    upload: Upload, work: Work, run_reaches: RunReaches, mnemon: Mnemon, tenant: UUID, monkeypatch: pytest.MonkeyPatch,
    retry: bool, attempts: int,
) -> None:  # fmt: skip
    monkeypatch.setattr(EmbedderUnavailable, "retry", retry)
    mnemon.__dict__["embedder"] = Gate(EmbedderUnavailable("The server of the model is down."))
    told = (await upload("Some text.")).json()
    await work()
    run = await run_reaches(told["run_id"], "failed", "succeeded")
    assert (run["status"], run["attempts"]) == ("succeeded", attempts)
    assert run["stats"]["without_vectors"] == "The server of the model is down."
    assert [hit.text for hit in (await mnemon.searcher.search(tenant, "text")).hits] == ["Some text."]
    assert await rows(mnemon, tenant, "SELECT 1 FROM mnemon.chunk_vectors") == []
    [job] = await rows(mnemon, tenant, "SELECT status FROM mnemon.jobs WHERE kind = 'models.embed_missing'")
    assert job["status"] == "PENDING"


async def test_a_failed_run_can_be_retried_and_keeps_its_first_start(
    ingested: Ingested, client: httpx.AsyncClient, user: Person, mnemon: Mnemon, run_reaches: RunReaches, tenant: UUID
) -> None:
    failed = await ingested(NO_TEXT)
    (file,) = files_below(mnemon.files.uploads)
    file.write_text("Now there is some.")
    answer = await client.post(f"/v1/ingestion-runs/{failed['run_id']}/retry", headers=user.headers)
    assert (answer.status_code, answer.json()["error"]) == (200, None)
    done = await run_reaches(failed["run_id"], "succeeded", "failed")
    assert (done["status"], done["started_at"]) == ("succeeded", failed["started_at"])
    again = await client.post(f"/v1/ingestion-runs/{failed['run_id']}/retry", headers=user.headers)
    assert (again.status_code, again.json()["error_code"]) == (409, "RUN_NOT_RETRIABLE")


async def test_a_run_whose_job_was_cleaned_up_gets_another(
    ingested: Ingested, client: httpx.AsyncClient, user: Person, mnemon: Mnemon, run_reaches: RunReaches
) -> None:
    failed = await ingested(NO_TEXT)
    async with mnemon.database.owner() as owner:
        await owner.execute("DELETE FROM mnemon.jobs WHERE job_id = %s", (failed["job_id"],))
    files_below(mnemon.files.uploads)[0].write_text("Now there is some.")
    await client.post(f"/v1/ingestion-runs/{failed['run_id']}/retry", headers=user.headers)
    done = await run_reaches(failed["run_id"], "succeeded", "failed")
    assert done["status"] == "succeeded" and done["job_id"] != failed["job_id"]


async def test_a_run_whose_file_is_gone_says_to_upload_again(
    ingested: Ingested, client: httpx.AsyncClient, user: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    failed = await ingested(NO_TEXT)
    mnemon.files.discard_upload(tenant, UUID(failed["run_id"]))
    answer = await client.post(f"/v1/ingestion-runs/{failed['run_id']}/retry", headers=user.headers)
    assert (answer.status_code, answer.json()["error_code"]) == (409, "FILE_GONE")


async def test_a_cancelled_job_fails_its_run(
    upload: Upload, client: httpx.AsyncClient, admin: Person, run_reaches: RunReaches
) -> None:
    told = (await upload("Some text.")).json()
    job_id = (await run_reaches(told["run_id"], "queued"))["job_id"]
    await client.post(f"/v1/jobs/{job_id}/cancel", headers=admin.headers)
    run = await run_reaches(told["run_id"], "failed")
    assert run["error_code"] == "CANCELLED" and run["started_at"] is None


async def test_an_attempt_that_lost_its_lease_writes_nothing(upload: Upload, mnemon: Mnemon, tenant: UUID) -> None:
    """As when the same job is delivered twice: only the holder of the lease can finish it."""
    told = (await upload("Some text.")).json()
    job = Job(
        job_id=new_uuid(), tenant_id=tenant, kind=INGEST, payload_text=f'{{"run_id": "{told["run_id"]}"}}',
        attempt=1, max_attempts=3, token=str(new_uuid()), database=mnemon.database, context=mnemon,
    )  # fmt: skip
    with pytest.raises(LeaseLost):
        await ingest.ingest(job)
    assert await rows(mnemon, tenant, "SELECT 1 FROM mnemon.document_revisions") == []
    assert await rows(mnemon, tenant, "SELECT 1 FROM mnemon.revision_texts") == []
    assert len(files_below(mnemon.files.uploads)) == 1


async def test_without_workers_a_run_waits_and_the_rest_works(
    upload: Upload, client: httpx.AsyncClient, user: Person, work: Work, run_reaches: RunReaches
) -> None:
    told = [(await upload(f"Text number {n}.")).json() for n in range(3)]
    for path in ("/v1/me", "/v1/documents", "/v1/ingestion-runs", "/v1/jobs/stats"):
        assert (await client.get(path, headers=user.headers)).status_code == 200
    listed = (await client.get("/v1/ingestion-runs", params={"status": "queued"}, headers=user.headers)).json()
    assert listed["total"] == 3
    # Never read, so not shown; and never hidden from who asks for them.
    assert (await client.get("/v1/documents", headers=user.headers)).json()["total"] == 0
    unread = (await client.get("/v1/documents", params={"status": "unread"}, headers=user.headers)).json()
    assert unread["total"] == 3
    await work()
    for one in told:
        assert (await run_reaches(one["run_id"], "succeeded", "failed"))["status"] == "succeeded"
    assert (await client.get("/v1/documents", headers=user.headers)).json()["total"] == 3


async def test_a_file_that_comes_while_every_slot_is_taken_waits_its_turn(
    upload: Upload, work: Work, run_reaches: RunReaches, mnemon: Mnemon
) -> None:
    gate = mnemon.__dict__["embedder"] = Gate()
    first = (await upload("First.")).json()
    await work(slots=1)
    async with asyncio.timeout(PATIENCE):
        await gate.reached.wait()
    answer = await upload("Second.")
    assert answer.status_code == 202
    waiting = await run_reaches(answer.json()["run_id"], "queued")
    assert (waiting["attempts"], waiting["error"]) == (0, None)
    gate.open.set()
    for one in (first, answer.json()):
        assert (await run_reaches(one["run_id"], "succeeded", "failed"))["status"] == "succeeded"


async def test_runs_are_listed_newest_first_in_pages_with_a_total(
    upload: Upload, client: httpx.AsyncClient, user: Person, mnemon: Mnemon, other_tenant: UUID
) -> None:
    told = [(await upload(f"Text number {n}.")).json()["run_id"] for n in range(5)]
    seen = []
    for page in (1, 2, 3):
        answer = await client.get("/v1/ingestion-runs", params={"page": page, "limit": 2}, headers=user.headers)
        assert (answer.json()["total"], answer.json()["page"], answer.json()["limit"]) == (5, page, 2)
        seen += [one["run_id"] for one in answer.json()["items"]]
    assert seen == told[::-1]
    doc_id = (await client.get(f"/v1/ingestion-runs/{told[0]}", headers=user.headers)).json()["doc_id"]
    of_one = (await client.get("/v1/ingestion-runs", params={"doc_id": doc_id}, headers=user.headers)).json()
    assert [one["run_id"] for one in of_one["items"]] == [told[0]]
    for wrong in ({"page": 0}, {"limit": 0}, {"limit": 201}, {"status": "lost"}):
        assert (await client.get("/v1/ingestion-runs", params=wrong, headers=user.headers)).status_code == 422
    stranger = await person(mnemon, other_tenant, Role.ADMIN)
    assert (await client.get("/v1/ingestion-runs", headers=stranger.headers)).json()["items"] == []
    retry = await client.post(f"/v1/ingestion-runs/{told[0]}/retry", headers=stranger.headers)
    assert retry.status_code == 404


async def test_one_structured_line_tells_how_each_run_ended(
    ingested: Ingested, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: dict[str, dict[str, object]] = {}

    def keep(event: str, **fields: object) -> None:
        lines[str(fields["run_id"])] = {"event": event, **fields}

    monkeypatch.setattr(ingest.log, "info", keep)
    monkeypatch.setattr(failures.log, "warning", keep)
    good, bad = await ingested("Some text."), await ingested(NO_TEXT)

    async def both() -> bool:
        return {good["run_id"], bad["run_id"]} <= lines.keys()

    assert await eventually(both)
    succeeded, failed = lines[good["run_id"]], lines[bad["run_id"]]
    assert succeeded["event"] == failed["event"] == "ingest_job_complete"
    common = {"tenant_id", "doc_id", "status", "duration_ms", "queue_wait_ms"}
    assert succeeded.keys() >= common | {"chunks_created", "tokens_total", "stages"}
    assert succeeded["stages"].keys() >= {"extract_ms", "chunk_ms", "embed_ms", "fts_ms", "db_write_ms"}  # type: ignore[attr-defined]
    assert failed.keys() >= common | {"error"}
    assert (succeeded["status"], failed["status"]) == ("succeeded", "failed")
