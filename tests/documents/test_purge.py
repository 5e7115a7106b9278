"""Purging: afterwards no table and no file holds a word of the document, and the log still verifies."""

import asyncio
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.documents import purge as purging
from mnemon.documents.purge import PURGE_FILES
from mnemon.log.events import Actor
from mnemon.log.privacy.scan import scan
from mnemon.log.proof.integrity import Integrity
from mnemon.log.read.streams import Stream
from tests.api.conftest import Person
from tests.documents.conftest import Ingested, RunReaches, Upload, Work, files_below, rows
from tests.documents.test_runs import NO_TEXT, Gate
from tests.patience import PATIENCE
from tests.work.conftest import Eventually


@dataclass(frozen=True)
class Secrets:
    """Words that stand in no other test's documents."""

    mark: str = field(default_factory=lambda: "".join(secrets.choice("bcdfghjkmpqrtvwxz") for _ in range(12)))

    @property
    def text(self) -> str:
        return f"# Title{self.mark}\n\nThe recipe for Strudel{self.mark} is secret."

    @property
    def name(self) -> str:
        return f"report-{self.mark}.md"

    async def findings(self, mnemon: Mnemon) -> list[str]:
        """Every place in the database and on disk where one of the words stands."""
        found = await scan(mnemon.database, [self.mark], folders=[mnemon.settings.home])
        return sorted(one.place for one in found.findings)


@pytest.fixture
def secret() -> Secrets:
    return Secrets()


async def purge(client: httpx.AsyncClient, admin: Person, doc_id: str) -> httpx.Response:
    return await client.post(f"/v1/documents/{doc_id}/purge", headers=admin.headers)


async def test_no_word_of_a_purged_document_is_left_anywhere(
    secret: Secrets,
    ingested: Ingested,
    client: httpx.AsyncClient,
    admin: Person,
    mnemon: Mnemon,
    tenant: UUID,
    eventually: Eventually,
) -> None:
    mnemon.tie_lenses_to_privacy()
    source = f"file:///{secret.mark}/report.md"
    run = await ingested(secret.text, secret.name, title=f"The {secret.mark} file", tags=secret.mark, source_uri=source)
    await ingested(secret.text + " Twice.", secret.name, source_uri=source)
    failed = await ingested(NO_TEXT, secret.name, source_uri=source)
    other = await ingested("Harmless words of another document.", "other.txt")
    async with mnemon.database.owner() as owner:
        # What an error text may quote, and what the planner keeps of it all.
        await owner.execute(
            "UPDATE mnemon.jobs SET last_error_message = %s, errors = jsonb_build_array(jsonb_build_object('message', "
            "%s::text)) WHERE job_id = %s",
            (secret.mark, secret.mark, failed["job_id"]),
        )
        await owner.execute(
            "UPDATE mnemon.ingestion_runs SET error = %s WHERE run_id = %s", (secret.mark, failed["run_id"])
        )
        await owner.execute("ANALYZE mnemon.documents, mnemon.document_revisions, mnemon.chunks, mnemon.ingestion_runs")
    assert {"mnemon.chunks.text", "mnemon.documents.title", "mnemon.revision_texts.text"} <= set(
        await secret.findings(mnemon)
    )

    answer = await purge(client, admin, run["doc_id"])
    assert (answer.status_code, answer.json()["versions"], answer.json()["runs"]) == (200, 2, 3)

    async def nothing_left() -> bool:
        return await secret.findings(mnemon) == []

    assert await eventually(nothing_left), await secret.findings(mnemon)
    assert [file.read_text() for file in files_below(mnemon.files.blobs)] == ["Harmless words of another document."]
    assert (await client.get(f"/v1/documents/{other['doc_id']}/text", headers=admin.headers)).status_code == 200
    vectors = "SELECT count(*) AS n FROM mnemon.chunks WHERE doc_id = %s"
    assert (await rows(mnemon, tenant, vectors, run["doc_id"]))[0]["n"] == 0


async def test_the_envelope_stays_and_the_log_verifies(
    secret: Secrets,
    ingested: Ingested,
    client: httpx.AsyncClient,
    admin: Person,
    mnemon: Mnemon,
    tenant: UUID,
    tmp_path: Path,
) -> None:
    run = await ingested(secret.text, secret.name)
    await purge(client, admin, run["doc_id"])
    shown = (await client.get(f"/v1/documents/{run['doc_id']}", headers=admin.headers)).json()
    assert (shown["status"], shown["title"], shown["source_uri"]) == (
        "purged",
        "[REDACTED]",
        f"purged:{run['doc_id']}",
    )
    assert shown["created_by"] and shown["created_at"]
    page = await mnemon.log.read_page(tenant, Stream.of_entity("document", run["doc_id"]))
    assert [event.type for event in page.events] == ["document.accepted", "document.ingested", "document.purged"]
    assert page.events[0].data["title"] == "[REDACTED]"
    assert page.events[2].actor_id == f"user:{admin.user_id}"
    report = await Integrity(mnemon.database, mnemon.log.reader, tmp_path).verify(tenant, "main")
    assert report.intact
    address = f"/v1/documents/{run['doc_id']}"
    for part, status in (("/text", 404), ("/download", 409), ("/chunks", 200), ("/versions", 200)):
        assert (await client.get(address + part, headers=admin.headers)).status_code == status
    for act in ("deactivate", "reactivate", "rebuild"):
        refused = await client.post(f"{address}/{act}", headers=admin.headers)
        assert (refused.status_code, refused.json()["error_code"]) == (409, "DOCUMENT_PURGED")
    retry = await client.post(f"/v1/ingestion-runs/{run['run_id']}/retry", headers=admin.headers)
    assert retry.status_code == 409


async def test_the_same_file_may_come_back_as_another_document(
    secret: Secrets, ingested: Ingested, client: httpx.AsyncClient, admin: Person
) -> None:
    first = await ingested(secret.text, secret.name)
    await purge(client, admin, first["doc_id"])
    second = await ingested(secret.text, secret.name)
    assert second["status"] == "succeeded" and second["doc_id"] != first["doc_id"]


async def test_a_file_that_another_document_has_too_stays(
    secret: Secrets, ingested: Ingested, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon
) -> None:
    first = await ingested(secret.text, secret.name)
    second = await ingested(secret.text, secret.name, source_uri="file:///elsewhere.md")
    assert len(files_below(mnemon.files.blobs)) == 1
    await purge(client, admin, first["doc_id"])
    file = await client.get(f"/v1/documents/{second['doc_id']}/download", headers=admin.headers)
    assert file.text == secret.text
    await purge(client, admin, second["doc_id"])
    assert files_below(mnemon.files.blobs) == []


async def test_a_purge_that_dies_before_the_files_are_gone_is_finished_by_its_job(
    secret: Secrets, ingested: Ingested, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID,
    eventually: Eventually, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    run = await ingested(secret.text, secret.name)

    remove, here = purging.remove_files, asyncio.current_task()

    async def die(*given: Any) -> None:
        if asyncio.current_task() is here:
            raise asyncio.CancelledError
        # The job, which a worker may begin at once.
        await remove(*given)

    with monkeypatch.context() as patched:
        patched.setattr(purging, "remove_files", die)
        with pytest.raises(asyncio.CancelledError):
            await mnemon.purge_document(tenant, admin_actor(), UUID(run["doc_id"]))

    async def gone() -> bool:
        done = "SELECT 1 FROM mnemon.jobs WHERE kind = %s AND status = 'DONE'"
        return files_below(mnemon.files.blobs) == [] and bool(await rows(mnemon, tenant, done, PURGE_FILES.name))

    assert await eventually(gone)
    assert await secret.findings(mnemon) == []


async def test_a_purge_that_fails_inside_leaves_the_document_whole(
    secret: Secrets, ingested: Ingested, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon
) -> None:
    run = await ingested(secret.text, secret.name)

    async def refuse(*_: object) -> None:
        raise RuntimeError("someone who keeps words of it cannot let go of them")

    mnemon.on_purge.append(refuse)
    assert (await purge(client, admin, run["doc_id"])).status_code == 500
    text = (await client.get(f"/v1/documents/{run['doc_id']}/text", headers=admin.headers)).json()["text"]
    assert secret.mark in text
    assert (await client.get(f"/v1/documents/{run['doc_id']}", headers=admin.headers)).json()["status"] == "active"


async def test_a_purge_during_a_run_wins(
    secret: Secrets, upload: Upload, work: Work, run_reaches: RunReaches, client: httpx.AsyncClient, admin: Person,
    mnemon: Mnemon, tenant: UUID, eventually: Eventually,
) -> None:  # fmt: skip
    gate = mnemon.__dict__["embedder"] = Gate()
    told = (await upload(secret.text, secret.name)).json()
    await work()
    async with asyncio.timeout(PATIENCE):
        await gate.reached.wait()
    await purge(client, admin, told["doc_id"])
    gate.open.set()
    run = await run_reaches(told["run_id"], "failed", "succeeded")
    assert (run["status"], run["error_code"]) == ("failed", "DOCUMENT_PURGED")

    async def nothing_left() -> bool:
        return await secret.findings(mnemon) == []

    assert await eventually(nothing_left), await secret.findings(mnemon)


async def test_erasing_the_key_of_a_document_purges_it(
    secret: Secrets, ingested: Ingested, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    mnemon.tie_lenses_to_privacy()
    run = await ingested(secret.text, secret.name)
    assert (await client.get("/v1/privacy/people", headers=admin.headers)).json()["items"] == []
    erasures, subject = mnemon.privacy.erasures, f"document:{run['doc_id']}"
    asked = await erasures.request(tenant, subject, reason="subject_request", requested_by="a")
    await erasures.approve(tenant, asked.erasure_id, approved_by="b")
    assert (await client.get(f"/v1/documents/{run['doc_id']}", headers=admin.headers)).json()["status"] == "purged"
    assert files_below(mnemon.files.blobs) == []


def admin_actor() -> Actor:
    return Actor("human", "user:someone")
