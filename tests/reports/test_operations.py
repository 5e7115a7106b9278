"""The sample list, from its archive to reports: what is cited stands there, and each outcome is as it was discussed."""

from pathlib import Path
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.mail.consensus.threads import is_reading
from mnemon.work.worker import Worker
from tests.api.conftest import Person
from tests.mail.conftest import Imported
from tests.work.conftest import Eventually

SAMPLE = Path(__file__).parents[2] / "examples" / "list" / "tern-dev.mbox"
LIST = "tern-dev.lists.example.org"


@pytest.fixture
async def sample(mail_worker: Worker, imported: Imported, mnemon: Mnemon, tenant: UUID, eventually: Eventually) -> None:
    await imported(SAMPLE)

    async def read() -> bool:
        return not await is_reading(mnemon.database, tenant)

    await eventually(read)


async def test_the_sample_list_from_its_archive_to_its_reports(
    sample: None, client: httpx.AsyncClient, user: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    client.headers.update(user.headers)
    found = {}
    for kind in ("agreement", "mixed", "dissent"):
        page = (await client.get("/v1/threads", params={"consensus": kind})).json()
        found |= {one["subject"]: kind for one in page["items"]}
    assert found["[VOTE] Release Tern 2.4.0 (rc1)"] == "agreement"
    assert found["Last call: draft-tern-wire-format-03"] == "agreement"
    assert found["Last call: draft-tern-telemetry-01"] == "mixed"

    vote = (await client.get("/v1/threads/%3Ck0.0@lists.example.org%3E/consensus")).json()
    assert vote["tally"] == {"0": 1, "+1": 5}
    assert vote["conclusion"]["concluded"] == "passed"
    assert {one["name"] for one in vote["votes"] if one["binding"] and one["value"] == "+1"} == {
        "Tomás Ferreira", "Mei Tanaka", "Ana Kovač",
    }  # fmt: skip

    report = (await client.get("/v1/reports/preview", params={"kind": "consensus", "list_name": LIST})).json()
    assert report["dropped"] == 0
    assert "Objection by Mei Tanaka, 8 March 2026, answered, and not withdrawn:" in report["content"]
    async with mnemon.database.transaction(tenant) as tx:
        for one in report["citations"]:
            statement = "SELECT text FROM mnemon.revision_texts WHERE doc_version_id = %s"
            row = await (await tx.execute(statement, (one["doc_version_id"],))).fetchone()
            assert row is not None
            assert row["text"][one["start"] : one["end"]] == one["quote"]

    of_draft = (
        await client.get("/v1/reports/preview", params={"kind": "draft-focused", "draft": "draft-tern-wire-format"})
    ).json()
    assert of_draft["threads"] == 1
    assert (await client.get("/v1/reports/preview", params={"kind": "thread"})).status_code == 422
    weekly = {"kind": "weekly", "until": "2026-03-06", "form": "print"}
    assert "<!doctype html>" in (await client.get("/v1/reports/preview", params=weekly)).json()["content"]
