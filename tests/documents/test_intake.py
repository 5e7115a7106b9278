"""Intake: a file becomes a document, a run, a job and an event, or is known already."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import httpx
import psycopg
import pytest

from mnemon.app import Mnemon
from mnemon.documents.intake import receive as intake
from mnemon.documents.intake.files import Files, plain_name
from mnemon.identity.roles import CredentialScope, Role
from mnemon.ids import new_uuid
from mnemon.log.read.streams import Stream
from tests.api.conftest import Person, person, token_for
from tests.documents.conftest import Ingested, RunReaches, Upload, Work, counts, files_below, rows
from tests.work.conftest import Eventually

TEXT = "The board met on Monday.\n\nIt decided to open an office in Lyon."
DIGEST = "sha256:" + hashlib.sha256(TEXT.encode()).hexdigest()


@pytest.fixture
def tenant_id() -> UUID:
    return new_uuid()


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
    upload: Upload, work: Work, run_reaches: RunReaches, mnemon: Mnemon, tenant: UUID, eventually: Eventually
) -> None:
    told = (await upload(TEXT)).json()
    await work()
    run = await run_reaches(told["run_id"], "succeeded", "failed")
    assert run["status"] == "succeeded", run["error"]
    assert run["stats"]["docs_processed"] == 1 and run["stats"]["chunks_created"] >= 1
    assert run["started_at"] and run["finished_at"] and run["wait_ms"] >= 0 and run["processing_ms"] >= 0
    (version,) = await rows(mnemon, tenant, "SELECT * FROM mnemon.document_revisions")
    assert (version["content_hash"], version["is_active"], version["version_number"]) == (DIGEST, True, 1)
    (text,) = await rows(mnemon, tenant, "SELECT * FROM mnemon.revision_texts")
    assert text["text"].strip() == TEXT and text["doc_version_id"] == version["doc_version_id"]

    async def moved_on() -> bool:
        return files_below(mnemon.files.uploads) == []

    await eventually(moved_on)
    assert [blob.read_text() for blob in files_below(mnemon.files.blobs)] == [TEXT]


async def test_the_same_bytes_again_are_skipped_and_leave_nothing(
    ingested: Ingested, upload: Upload, mnemon: Mnemon, tenant: UUID
) -> None:
    first = await ingested(TEXT, "minutes.txt")
    before = await counts(mnemon, tenant)
    answer = await upload(TEXT, "other name.txt", title="Another title")
    assert answer.status_code == 200
    assert answer.json() == {
        "doc_id": first["doc_id"],
        "status": "skipped",
        "reason": "already ingested, no changes",
        "filename": "other name.txt",
        # As its owner calls it from now on.
        "title": "Another title",
        "content_hash": DIGEST,
        "dedup_result": "skipped",
    }
    assert await counts(mnemon, tenant) == before
    assert files_below(mnemon.files.uploads) == []


async def test_a_document_without_an_active_version_is_read_again(
    ingested: Ingested, upload: Upload, client: httpx.AsyncClient, admin: Person, run_reaches: RunReaches
) -> None:
    first = await ingested(TEXT)
    await client.post(f"/v1/documents/{first['doc_id']}/deactivate", headers=admin.headers)
    again = (await upload(TEXT)).json()
    assert (again["doc_id"], again["dedup_result"]) == (first["doc_id"], "reprocess")
    run = await run_reaches(again["run_id"], "succeeded", "failed")
    assert run["doc_version_id"] == first["doc_version_id"]
    shown = (await client.get(f"/v1/documents/{first['doc_id']}", headers=admin.headers)).json()
    assert (shown["status"], shown["version_number"]) == ("active", 1)


async def test_other_bytes_are_another_document(upload: Upload) -> None:
    first, second = (await upload(TEXT)).json(), (await upload(TEXT + "!")).json()
    assert first["doc_id"] != second["doc_id"]
    assert second["dedup_result"] == "new"


async def test_other_bytes_from_the_same_source_are_a_new_version(
    ingested: Ingested, upload: Upload, client: httpx.AsyncClient, user: Person
) -> None:
    source = "file:///policies/travel.txt"
    first = await ingested("Trains only.", "travel.txt", source_uri=source, title="Travel", tags="policy, travel")
    second = await ingested("Trains and buses.", "travel.txt", source_uri=source)
    assert second["doc_id"] == first["doc_id"]
    versions = (await client.get(f"/v1/documents/{first['doc_id']}/versions", headers=user.headers)).json()
    assert [(one["version_number"], one["is_active"]) for one in versions] == [(2, True), (1, False)]
    assert versions[1]["deactivated_at"] == versions[0]["activated_at"]
    shown = (await client.get(f"/v1/documents/{first['doc_id']}", headers=user.headers)).json()
    assert (shown["title"], shown["tags"], shown["source_type"]) == ("Travel", ["policy", "travel"], "file")
    assert (await upload("Trains and buses.", "travel.txt", source_uri=source)).json()["status"] == "skipped"
    third = await ingested("Trains only.", "travel.txt", source_uri=source)
    assert third["doc_version_id"] == first["doc_version_id"]


async def test_a_file_that_was_added_by_its_path_is_not_new_when_the_same_bytes_are_uploaded(
    upload: Upload, ingested: Ingested, mnemon: Mnemon, tenant: UUID
) -> None:
    """One who added a folder and then drops a file of it on the page has one document, and each promise once."""
    added = await ingested("Trains only.", "travel.txt", source_uri="file:///policies/travel.txt")
    again = (await upload("Trains only.", "another name.txt")).json()
    assert (again["status"], again["doc_id"]) == ("skipped", added["doc_id"])
    mine = (await upload("Trains only.", "travel.txt", visibility_scope="me")).json()
    assert (mine["status"], mine["doc_id"] != added["doc_id"]) == ("queued", True)


async def test_of_two_runs_of_one_source_the_last_to_complete_wins(
    upload: Upload, work: Work, run_reaches: RunReaches, mnemon: Mnemon, tenant: UUID
) -> None:
    source = "file:///a.txt"
    older = (await upload("one", "a.txt", source_uri=source)).json()
    newer = (await upload("two", "a.txt", source_uri=source)).json()
    assert (older["doc_id"], newer["dedup_result"]) == (newer["doc_id"], "reprocess")
    # The older one gets its turn last.
    async with mnemon.database.owner() as owner:
        await owner.execute("UPDATE mnemon.jobs SET priority = -1 WHERE payload ->> 'run_id' = %s", (older["run_id"],))
    await work(slots=1)
    ended = [await run_reaches(one["run_id"], "succeeded", "failed") for one in (newer, older)]
    assert ended[0]["finished_at"] < ended[1]["finished_at"]
    (active,) = await rows(mnemon, tenant, "SELECT doc_version_id FROM mnemon.document_revisions WHERE is_active")
    assert str(active["doc_version_id"]) == ended[1]["doc_version_id"]


async def test_an_edit_that_is_taken_back_before_it_was_read_is_taken_back(
    upload: Upload, work: Work, run_reaches: RunReaches, client: httpx.AsyncClient, user: Person
) -> None:
    source = "file:///policies/back.txt"
    told = [(await upload("Trains only.", "back.txt", source_uri=source)).json()]
    worker = await work(slots=1)
    first = await run_reaches(told[0]["run_id"], "succeeded", "failed")
    worker.stop()
    told = [(await upload(text, "back.txt", source_uri=source)).json() for text in ("Planes!", "Trains only.")]
    assert [one["status"] for one in told] == ["queued", "queued"]
    await work(slots=1)
    ended = [await run_reaches(one["run_id"], "succeeded", "failed") for one in told]
    assert ended[1]["doc_version_id"] == first["doc_version_id"]
    text = (await client.get(f"/v1/documents/{first['doc_id']}/text", headers=user.headers)).json()
    assert text["text"] == "Trains only."
    assert (await upload("Trains only.", "back.txt", source_uri=source)).json()["status"] == "skipped"


async def test_identical_uploads_at_once_make_one_document_one_blob_and_one_version(
    upload: Upload, work: Work, run_reaches: RunReaches, mnemon: Mnemon, tenant: UUID
) -> None:
    answers = await asyncio.gather(*(upload(TEXT, f"{n}.txt") for n in range(8)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["doc_id"] for answer in answers}) == 1
    await work()
    for answer in answers:
        assert (await run_reaches(answer.json()["run_id"], "succeeded", "failed"))["status"] == "succeeded"
    assert await counts(mnemon, tenant) == {"documents": 1, "document_revisions": 1, "ingestion_runs": 8}
    assert len(files_below(mnemon.files.blobs)) == 1
    assert files_below(mnemon.files.uploads) == []


async def test_a_database_that_fails_after_the_file_is_stored_leaves_no_rows(
    upload: Upload, mnemon: Mnemon, tenant: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise psycopg.OperationalError("the server closed the connection")

    monkeypatch.setattr("mnemon.documents.intake.new_run.enqueue", fail)
    answer = await upload(TEXT)
    assert (answer.status_code, answer.json()["error_code"]) == (503, "DATABASE_UNAVAILABLE")
    assert await counts(mnemon, tenant) == {"documents": 0, "document_revisions": 0, "ingestion_runs": 0}
    # Whether it was committed cannot be known here; the sweep finds out.
    assert len(files_below(mnemon.files.uploads)) == 1


async def test_a_disk_that_fails_leaves_no_rows_and_no_file(upload: Upload, mnemon: Mnemon, tenant: UUID) -> None:
    mnemon.files.uploads.parent.mkdir(exist_ok=True)
    mnemon.files.uploads.write_text("a file where the folder should be")
    answer = await upload(TEXT)
    assert (answer.status_code, answer.json()["error_code"]) == (500, "UPLOAD_NOT_STORED")
    assert await counts(mnemon, tenant) == {"documents": 0, "document_revisions": 0, "ingestion_runs": 0}


def test_what_a_full_disk_cut_short_is_given_up_and_gone(mnemon: Mnemon, tenant: UUID) -> None:
    incoming = mnemon.files.receive(tenant, "notes.txt")
    incoming._file.close()
    incoming._file = Path("/dev/full").open("wb")  # noqa: SIM115
    incoming.write(b"We like tea.")
    with pytest.raises(OSError, match="No space left"):
        incoming.complete()
    incoming.abandon()
    assert files_below(mnemon.files.uploads) == []


async def test_the_tenant_comes_from_the_credential(
    upload: Upload, client: httpx.AsyncClient, mnemon: Mnemon, other_tenant: UUID
) -> None:
    told = (await upload(TEXT)).json()
    stranger = await person(mnemon, other_tenant, Role.ADMIN)
    for path in (f"ingestion-runs/{told['run_id']}", f"documents/{told['doc_id']}"):
        assert (await client.get(f"/v1/{path}", headers=stranger.headers)).status_code == 404
    files = {"file": ("a.txt", TEXT.encode())}
    theirs = await client.post("/v1/ingest", files=files, headers=stranger.headers)
    assert theirs.status_code == 202 and theirs.json()["doc_id"] != told["doc_id"]
    sly = {"tenant_id": str(other_tenant)}
    refused = await client.post("/v1/ingest", files=files, data=sly, headers=stranger.headers)
    assert refused.json()["error_code"] == "UNFIT_FIELD"
    assert (await client.post("/v1/ingest", files=files)).status_code == 401


async def test_a_reader_may_not_upload(client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, user: Person) -> None:
    token = await token_for(mnemon, tenant, user, CredentialScope.READ)
    answer = await client.post(
        "/v1/ingest", files={"file": ("a.txt", b"a")}, headers={"Authorization": f"Bearer {token}"}
    )
    assert answer.status_code == 403


async def test_one_structured_line_tells_of_each_upload(
    upload: Upload, tenant: UUID, user: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[dict[str, object]] = []
    monkeypatch.setattr(intake.log, "info", lambda event, **fields: lines.append({"event": event, **fields}))
    told = (await upload(TEXT, "minutes.txt")).json()
    (line,) = lines
    assert line["event"] == "ingest_job_submitted"
    assert line.keys() >= {
        "tenant_id", "user_id", "run_id", "doc_id", "dedup_result", "filename", "content_type", "size_bytes",
        "content_hash", "source_uri", "upload_uri", "delegation_mode", "delegation_success",
    }  # fmt: skip
    assert (str(line["run_id"]), line["dedup_result"], line["user_id"]) == (told["run_id"], "new", str(user.user_id))


REFUSALS = [
    ("empty.txt", b"", {}, 400, "EMPTY_FILE", "is empty"),
    ("program.exe", b"MZ", {}, 400, "UNSUPPORTED_FILE", ".pdf, .docx"),
    ("noextension", b"text", {}, 400, "UNSUPPORTED_FILE", ".pdf, .docx"),
    ("fake.pdf", b"just text", {}, 400, "UNSUPPORTED_FILE", "its content is"),
    ("fake.txt", b"%PDF-1.7 and so on", {}, 400, "UNSUPPORTED_FILE", "its content is"),
    ("big.txt", b"x" * ((1 << 20) + 1), {}, 413, "FILE_TOO_LARGE", "over the limit of 1 MB"),
    ("a.txt", b"a", {"title": "x" * 501}, 400, "UNFIT_FIELD", "1 to 500 characters"),
    ("a.txt", b"a", {"title": "red\x1b[31m"}, 400, "UNFIT_FIELD", "without control characters"),
    ("a.txt", b"a", {"title": "one\r\ntwo"}, 400, "UNFIT_FIELD", "one line each"),
    ("a.txt", b"a", {"tags": "turned\u202ednuora"}, 400, "UNFIT_FIELD", "without control characters"),
    ("a.txt", b"a", {"source_uri": "nowhere"}, 400, "UNFIT_FIELD", "scheme://path"),
    ("a.txt", b"a", {"source_uri": "upload://sha256:00"}, 400, "UNFIT_FIELD", "leave it out"),
    ("a.txt", b"a", {"source_uri": "artifact://uid_0123456789abcdef"}, 400, "UNFIT_FIELD", "leave it out"),
    ("a.txt", b"a", {"tags": ",".join(map(str, range(51)))}, 400, "UNFIT_FIELD", "At most 50 tags"),
    ("a.txt", b"a", {"colour": "red"}, 400, "UNFIT_FIELD", "unknown field 'colour'"),
]


@pytest.mark.parametrize(("filename", "content", "fields", "status", "code", "says"), REFUSALS)
async def test_a_refused_file_says_why_and_leaves_nothing(
    upload: Upload, mnemon: Mnemon, tenant: UUID, filename: str, content: bytes, fields: dict[str, str], status: int,
    code: str, says: str,
) -> None:  # fmt: skip
    answer = await upload(content, filename, **fields)
    assert (answer.status_code, answer.json()["error_code"]) == (status, code)
    assert says in answer.json()["error"]
    assert await counts(mnemon, tenant) == {"documents": 0, "document_revisions": 0, "ingestion_runs": 0}
    assert files_below(mnemon.files.uploads) == []


BOUNDARY = {"Content-Type": "multipart/form-data; boundary=xx"}
PART = b'--xx\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'


@pytest.mark.parametrize(
    ("headers", "body", "code"),
    [
        ({"Content-Type": "application/json"}, b"{}", "BAD_UPLOAD"),
        ({"Content-Type": "multipart/form-data"}, b"", "BAD_UPLOAD"),
        (BOUNDARY, b"no form at all", "BAD_UPLOAD"),
        (BOUNDARY, PART + b"cut off", "BAD_UPLOAD"),
        (BOUNDARY, b"--xx\r\n\r\nnameless\r\n--xx--\r\n", "BAD_UPLOAD"),
        (BOUNDARY, b'--xx\r\nContent-Disposition: form-data; name="title"\r\n\r\nT\r\n--xx--\r\n', "NO_FILE"),
        (BOUNDARY, PART.replace(b'name="file"', b'name="photo"') + b"a\r\n--xx--\r\n", "UNFIT_FIELD"),
        (BOUNDARY, PART.replace(b"a.txt", b"\xff.txt") + b"a\r\n--xx--\r\n", "BAD_UPLOAD"),
    ],
)
async def test_a_malformed_form_is_refused_and_leaves_nothing(
    client: httpx.AsyncClient, user: Person, mnemon: Mnemon, headers: dict[str, str], body: bytes, code: str
) -> None:
    answer = await client.post("/v1/ingest", content=body, headers=headers | user.headers)
    assert (answer.status_code, answer.json()["error_code"]) == (400, code)
    assert answer.headers["connection"] == "close"
    assert files_below(mnemon.files.uploads) == []


async def test_a_form_cut_at_every_byte_is_read_alike(client: httpx.AsyncClient, user: Person, mnemon: Mnemon) -> None:
    content = b"line\r\n--x\r\n--xx is not the boundary\r\n-\r\n"
    body = PART + content + b'\r\n--xx\r\nContent-Disposition: form-data; name="title"\r\n\r\nT\r\n--xx--\r\n'

    async def bytewise() -> AsyncIterator[bytes]:
        for at in range(len(body)):
            yield body[at : at + 1]

    answer = await client.post("/v1/ingest", content=bytewise(), headers=BOUNDARY | user.headers)
    assert answer.status_code == 202
    assert answer.json()["content_hash"] == "sha256:" + hashlib.sha256(content).hexdigest()


async def test_a_sender_who_falls_silent_is_told_so(
    client: httpx.AsyncClient, user: Person, mnemon: Mnemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mnemon, "settings", mnemon.settings.model_copy(update={"upload_idle_seconds": 1}))
    never = asyncio.Event()

    async def silent() -> AsyncIterator[bytes]:
        yield PART + b"so far"
        await never.wait()

    answer = await client.post("/v1/ingest", content=silent(), headers=BOUNDARY | user.headers)
    assert (answer.status_code, answer.json()["error_code"]) == (408, "UPLOAD_STALLED")
    assert files_below(mnemon.files.uploads) == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\Users\\ada\\notes.txt", "notes.txt"),
        ("Pr\u0065\u0301cis.txt", "Pr\u00e9cis.txt"),
        ("a\x00b\n.txt", "ab.txt"),
        ("at 9.41\u202fAM.txt", "at 9.41 AM.txt"),
        ("x" * 400 + ".txt", "x" * 251 + ".txt"),
        ("..", "unnamed"),
        ("", "unnamed"),
    ],
)
def test_a_file_name_is_shown_but_never_a_path(given: str, kept: str, tmp_path: Path, tenant_id: UUID) -> None:
    assert plain_name(given) == kept
    incoming = Files(tmp_path / "u", tmp_path / "b", 10).receive(tenant_id, given)
    incoming.write(b"x")
    assert incoming.complete().path.parent.parent.parent == tmp_path / "u"
