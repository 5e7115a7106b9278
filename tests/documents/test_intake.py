"""Intake: a file becomes a document, a run, a job and an event, or is known already."""

import hashlib
from uuid import UUID

import httpx

from mnemon.app import Mnemon
from mnemon.log.streams import Stream
from tests.api.conftest import Person
from tests.documents.conftest import RunReaches, Upload, Work, files_below, rows

TEXT = "The board met on Monday.\n\nIt decided to open an office in Lyon."
DIGEST = "sha256:" + hashlib.sha256(TEXT.encode()).hexdigest()


async def test_an_upload_is_stored_hashed_and_queued(
    upload: Upload, client: httpx.AsyncClient, user: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    answer = await upload(TEXT, "minutes.txt", title="Board minutes")
    assert answer.status_code == 202
    told = answer.json()
    assert (told["status"], told["dedup_result"], told["content_hash"]) == ("queued", "new", DIGEST)
    run = (await client.get(f"/v1/ingestion-runs/{told['run_id']}", headers=user.headers)).json()
    assert (run["status"], run["started_at"], run["finished_at"], run["error"]) == ("queued", None, None, None)
    assert run["created_at"] and run["run_type"] == "manual_upload"
    assert run["config"] == {
        "source_type": "upload",
        "source_uri": f"upload://{DIGEST}",
        "upload_uri": run["config"]["upload_uri"],
        "title": "Board minutes",
        "tags": [],
        "original_filename": "minutes.txt",
        "kind": "txt",
        "content_type": "text/plain",
        "file_size_bytes": len(TEXT),
        "content_hash": DIGEST,
        "created_by_user_id": str(user.user_id),
    }
    (file,) = files_below(mnemon.files.uploads)
    assert file.read_text() == TEXT and file.as_uri() == run["config"]["upload_uri"]
    assert str(tenant) in str(file) and told["run_id"] in str(file)
    (job,) = await rows(mnemon, tenant, "SELECT payload FROM mnemon.jobs WHERE kind = 'documents.ingest'")
    assert job["payload"] == {"run_id": told["run_id"]}
    page = await mnemon.log.read_page(tenant, Stream.of_entity("document", told["doc_id"]))
    assert [event.type for event in page.events] == ["document.accepted"]
    assert page.events[0].data["title"] == "Board minutes"
    assert page.events[0].actor_id == f"user:{user.user_id}"


async def test_the_title_is_the_file_name_unless_one_is_given(upload: Upload, mnemon: Mnemon, tenant: UUID) -> None:
    await upload(TEXT, "minutes.txt")
    (row,) = await rows(mnemon, tenant, "SELECT title FROM mnemon.documents")
    assert row["title"] == "minutes.txt"


async def test_a_worker_reads_it_and_its_text_is_there(
    upload: Upload, work: Work, run_reaches: RunReaches, mnemon: Mnemon, tenant: UUID
) -> None:
    told = (await upload(TEXT)).json()
    await work()
    run = await run_reaches(told["run_id"], "succeeded", "failed")
    assert run["status"] == "succeeded", run["error"]
    assert run["stats"]["docs_processed"] == 1 and run["stats"]["chunks_created"] >= 1
    assert run["started_at"] and run["finished_at"] and run["wait_ms"] >= 0 and run["processing_ms"] >= 0
    (version,) = await rows(mnemon, tenant, "SELECT * FROM mnemon.document_versions")
    assert (version["content_hash"], version["is_active"], version["version_number"]) == (DIGEST, True, 1)
    (text,) = await rows(mnemon, tenant, "SELECT * FROM mnemon.revision_texts")
    assert text["text"].strip() == TEXT and text["doc_version_id"] == version["doc_version_id"]
    assert files_below(mnemon.files.uploads) == []
    assert [blob.read_text() for blob in files_below(mnemon.files.blobs)] == [TEXT]
