"""Summaries and reports are made from what was read, kept as places in the log, and told with words that stand."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.bus.envelope import CATALOGUE
from mnemon.log.errors import TransactionConflict
from mnemon.log.events import SYSTEM
from mnemon.log.types.event_type import built_in_types
from mnemon.mail.consensus.job import THREADS_WERE_READ
from mnemon.mail.jobs import KINDS
from mnemon.reports import abstracting, jobs
from mnemon.reports.failures import RECORD_STAGE_FAILURE
from mnemon.reports.jobs import SUMMARIZE, WEEKLY
from mnemon.work.kinds import Backoff
from mnemon.work.worker import Worker
from tests.api.conftest import Person
from tests.mail.conftest import Imported
from tests.models.scripted import ScriptedSpeaker, scripted_model
from tests.work.conftest import Eventually, running

SAMPLE = Path(__file__).parents[2] / "examples" / "list" / "tern-dev.mbox"
LIST = "tern-dev.lists.example.org"
OURS = (*KINDS, THREADS_WERE_READ, SUMMARIZE, WEEKLY, RECORD_STAGE_FAILURE)


@pytest.fixture
async def worker(mnemon: Mnemon, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Worker]:
    for kind in (THREADS_WERE_READ, SUMMARIZE):
        monkeypatch.setattr(kind, "backoff", Backoff(0, 0))
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(running(Worker(mnemon.database, OURS, context=mnemon, poll=0.1)))


@pytest.fixture
def settled(mnemon: Mnemon, tenant: UUID, eventually: Eventually) -> Any:
    """Until nothing of ours is left to do."""

    async def wait() -> None:
        async def idle() -> bool:
            async with mnemon.database.transaction(tenant) as tx:
                statement = """SELECT FROM mnemon.jobs WHERE kind = ANY(%s) AND status IN ('PENDING', 'PROCESSING')"""
                names = [kind.name for kind in OURS]
                return await (await tx.execute(statement, (names,))).fetchone() is None

        await eventually(idle)

    return wait


async def texts_of(mnemon: Mnemon, tenant: UUID) -> dict[str, str]:
    async with mnemon.database.transaction(tenant) as tx:
        rows = await (await tx.execute("SELECT doc_version_id, text FROM mnemon.revision_texts")).fetchall()
    return {str(row["doc_version_id"]): row["text"] for row in rows}


def check(report: dict[str, Any], texts: dict[str, str]) -> None:
    """Each line cites, and what is cited is the decoded source at that place; what is quoted is cited."""
    for one in report["citations"]:
        assert texts[one["doc_version_id"]][one["start"] : one["end"]] == one["quote"]
    for section in report["sections"]:
        assert section["lines"]
        for line in section["lines"]:
            assert line["citations"], line
            cited = [report["citations"][number - 1]["quote"] for number in line["citations"]]
            assert not line["quoted"] or line["quoted"] in cited


def test_all_fourteen_events_of_the_catalogue_are_declared() -> None:
    assert set(CATALOGUE) <= {one.type for one in built_in_types()}
    assert len(CATALOGUE) == 14


async def test_threads_that_were_read_get_a_summary_and_reports_are_kept_and_found(
    worker: Worker, imported: Imported, settled: Any, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon,
    tenant: UUID,
) -> None:  # fmt: skip
    client.headers.update(admin.headers)
    await imported(SAMPLE)
    await settled()
    texts = await texts_of(mnemon, tenant)
    found = (await client.get("/v1/summaries", params={"kind": "thread"})).json()["items"]
    assert len(found) == 5
    for one in found:
        whole = (await client.get(f"/v1/summaries/{one['summary_id']}")).json()
        check(whole["report"], texts)
        assert whole["line_count"] == sum(len(section["lines"]) for section in whole["report"]["sections"])

    asked = await client.post("/v1/reports", json={"kind": "consensus", "list_name": LIST})
    assert asked.status_code == 202, asked.text
    await settled()
    name = asked.json()["report_id"]
    for form, begins in (("markdown", "# Consensus report: "), ("html", "<!doctype"), ("print", "<!doctype")):
        report = (await client.get(f"/v1/reports/{name}", params={"form": form})).json()
        assert report["report"]["content"].startswith(begins)
        check(report["report"], texts)
    live = (await client.get("/v1/reports/preview", params={"list_name": LIST})).json()
    stored = (await client.get(f"/v1/reports/{name}")).json()["report"]
    assert (stored["content"], stored["citations"]) == (live["content"], live["citations"])

    async def count(**filters: Any) -> int:
        return len((await client.get("/v1/reports", params=filters)).json()["items"])

    assert await count() == 6
    assert await count(kind="consensus") == await count(kind="consensus", list_name=LIST) == 1
    assert await count(consensus="mixed") == 2
    assert await count(draft="draft-tern-wire-format", kind="thread") == 1
    assert await count(person="Rosa Lindgren", kind="thread") == 1
    assert await count(person="nobody@example.org") == 0
    assert await count(since="2099-01-01") == await count(until="2000-01-01") == 0
    assert await count(thread="<k2.0@lists.example.org>", kind="thread") == 1
    first = (await client.get("/v1/reports", params={"limit": 4})).json()
    rest = (await client.get("/v1/reports", params={"limit": 4, "cursor": first["next_cursor"]})).json()
    both = [one["report_id"] for one in (*first["items"], *rest["items"])]
    assert (len(both), len(set(both)), rest["next_cursor"]) == (6, 6, None)

    trace = await mnemon.log.read_trace(tenant, asked.json()["summary_id"])
    types = [one.type for one in trace.events]
    assert types == ["summarization.requested", "summary.complete", "report.published"]
    assert [one.caused_by for one in trace.events][1:] == [one.id for one in trace.events][:2]
    quotes = [one["quote"] for one in live["citations"] if len(one["quote"]) > 20]
    kept = "".join(one.payload_text or "" for one in trace.events)
    assert quotes and not any(quote in kept for quote in quotes), "words stand in messages alone"

    before = (await client.get("/v1/reports")).json()
    await mnemon.projector.rebuild(tenant, "mail_summaries")
    assert (await client.get("/v1/reports")).json() == before

    await imported(SAMPLE, source="again")
    await settled()
    assert await count() == 6, "nothing was read anew"

    async with mnemon.database.transaction(tenant) as tx:
        hide = "UPDATE mnemon.mail_threads SET readers = '{user:other}' WHERE subject LIKE %s RETURNING thread_key"
        row = await (await tx.execute(hide, ("%telemetry%",))).fetchone()
    assert row is not None
    assert await count() == 4, "what tells of a thread that is for others is for others"
    assert (await client.get(f"/v1/reports/{name}")).status_code == 404
    now = (await client.get("/v1/reports/preview", params={"list_name": LIST})).json()
    assert len(now["sections"]) == 4
    private = await client.post("/v1/reports", json={"kind": "thread", "thread": row["thread_key"]})
    assert private.status_code == 404


async def test_a_purged_message_takes_what_cites_it_out_of_stored_reports(
    worker: Worker, imported: Imported, settled: Any, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon,
    tenant: UUID,
) -> None:  # fmt: skip
    client.headers.update(admin.headers)
    await imported(SAMPLE)
    await settled()
    [one] = (await client.get("/v1/summaries", params={"thread": "<k2.0@lists.example.org>"})).json()["items"]
    path = f"/v1/summaries/{one['summary_id']}"
    assert "I object." in (await client.get(path)).json()["report"]["content"]
    message = (await client.get("/v1/messages/%3Ck2.3@lists.example.org%3E")).json()
    await mnemon.purge_document(tenant, SYSTEM, UUID(message["doc_id"]))
    after = (await client.get(path)).json()["report"]
    assert "I object." not in after["content"]
    assert "Mei Tanaka" not in after["content"]
    assert after["dropped"] > 0
    assert after["sections"]


async def test_a_model_s_sentences_are_kept_where_their_quotes_stand_and_go_with_any_message_they_cite(
    worker: Worker, imported: Imported, settled: Any, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon,
    tenant: UUID, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    client.headers.update(admin.headers)
    await imported(SAMPLE)
    await settled()
    monkeypatch.setattr(mnemon, "settings", mnemon.settings.model_copy(update={"summary_engine": "llm"}))

    def number(prompt: Any, words: str) -> int:
        [line] = [one for one in prompt.user.split("\n") if words in one]
        return int(line[1:].partition("]")[0])

    def answer(prompt: Any) -> Any:
        objection = {"statement": number(prompt, "I object."), "words": "I object."}
        support = {"statement": number(prompt, "I support this."), "words": "I  support\nthis."}
        made = [
            {"text": "Mei Tanaka objects while Tomás Ferreira is in favour.", "quotes": [objection, support]},
            {"text": "The objection was withdrawn.", "quotes": [{"statement": 1, "words": "withdrawn by all"}]},
            {"text": "Everybody agreed on 17 May.", "quotes": [objection]},
            {"text": "Nothing proves this.", "quotes": []},
            {"text": "A statement that is none.", "quotes": [{"statement": 99, "words": "I object."}]},
        ]
        return abstracting.ThreadSummary.model_validate({"sentences": made})

    monkeypatch.setitem(vars(mnemon), "language_model", scripted_model(ScriptedSpeaker(answer)))
    asked = (await client.post("/v1/reports", json={"kind": "thread", "thread": "<k2.0@lists.example.org>"})).json()
    await settled()
    path = f"/v1/reports/{asked['report_id']}"
    whole = (await client.get(path)).json()
    check(whole["report"], await texts_of(mnemon, tenant))
    assert (whole["generated_by"], whole["dropped"]) == ("scripted", 4)
    assert "Mei Tanaka objects while Tomás Ferreira is in favour." in whole["report"]["content"]
    assert "17 May" not in whole["report"]["content"]

    trace = await mnemon.log.read_trace(tenant, asked["summary_id"])
    [event] = [one for one in trace.events if one.type == "summary.complete"]
    async with mnemon.database.transaction(tenant) as tx:
        statement = "SELECT payload::text AS kept FROM mnemon.event_payloads WHERE tenant_id = mnemon.current_tenant()"
        rows = await (await tx.execute(statement)).fetchall()
    assert not any("objects while" in row["kept"] for row in rows), "it is sealed"
    message = (await client.get("/v1/messages/%3Ck2.1@lists.example.org%3E")).json()
    await mnemon.purge_document(tenant, SYSTEM, UUID(message["doc_id"]))
    assert "objects while" not in (await client.get(path)).json()["report"]["content"]
    forgotten = await mnemon.log.read_event(tenant, event.id)
    assert "objects while" not in str(forgotten.payload)


async def test_what_fails_for_good_is_in_the_log_with_how_often_it_was_tried(
    worker: Worker, imported: Imported, settled: Any, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon,
    tenant: UUID, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    client.headers.update(admin.headers)

    async def broken(*_: Any, **__: Any) -> Any:
        raise TransactionConflict("no way")

    monkeypatch.setattr(jobs, "draft_in", broken)
    await imported(SAMPLE)
    await settled()
    told = [one async for one in mnemon.log.scan(tenant) if one.type == "summarization.failed"]
    assert len(told) == 5
    assert {one.data["retry_count"] for one in told} == {SUMMARIZE.max_attempts}
    assert all("no way" in one.data["error_message"] for one in told)
    dead = (await client.get("/v1/jobs", params={"kind": "reports.summarize", "status": "FAILED"})).json()
    monkeypatch.undo()
    await client.post(f"/v1/jobs/{dead['items'][0]['job_id']}/retry")
    await settled()
    assert len((await client.get("/v1/summaries")).json()["items"]) == 1, "a dead stage is replayed"
