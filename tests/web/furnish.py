"""A house with something in every room, for tests of all pages and for pictures of them."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

from playwright.async_api import Page

from mnemon.app import Mnemon
from mnemon.beside import working_inside
from mnemon.log.events import SYSTEM
from mnemon.mail.consensus.threads import is_reading
from mnemon.mail.storing.importing import add_import
from tests.semantics.conftest import UNFINISHED

EXAMPLES = Path(__file__).parents[2] / "examples"
LIST = EXAMPLES / "list" / "tern-dev.mbox"
LONGEST = 600
NOTES = ("The archive moves to Frankfurt in May.", "Ada prefers letters to calls.", "Berths cost 39 euro a night.")
SAID = {
    "2026-01-05": "We decided to use MySQL for the ledger.",
    "2026-03-09": "We decided to use Postgres instead of MySQL for the ledger.",
    "2026-03-10": "Ada Byron will move the ledger to Postgres by 9 April 2026.",
    "2026-03-11": "There is a risk that the import takes too long. Ben Okafor likes the new ledger.",
}


def tenant_of(mnemon: Mnemon) -> UUID:
    assert mnemon.first_start is not None
    return mnemon.first_start.tenant_id


async def settled(mnemon: Mnemon) -> None:
    """Have a worker do everything that waits."""
    tenant = tenant_of(mnemon)
    async with working_inside(mnemon), asyncio.timeout(LONGEST):
        # The database has no event for it.
        while await _unfinished(mnemon, tenant) or await is_reading(mnemon.database, tenant):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def _unfinished(mnemon: Mnemon, tenant: UUID) -> int:
    async with mnemon.database.transaction(tenant) as tx:
        row = await (await tx.execute(UNFINISHED)).fetchone()
    assert row is not None
    return int(row["n"])


async def send(mnemon: Mnemon, page: Page, path: str, data: Any, method: str = "post") -> Any:
    answer = await getattr(page.request, method)(path, data=data, headers={"Origin": mnemon.url})
    assert answer.ok, await answer.text()
    return await answer.json()


async def add_list(mnemon: Mnemon) -> None:
    tenant = tenant_of(mnemon)
    received = mnemon.files.take_copy(tenant, LIST)
    async with mnemon.database.transaction(tenant) as tx:
        await add_import(tx, received.run_id, "tern-dev", "file", str(LIST), SYSTEM)


async def add_memory(mnemon: Mnemon, page: Page) -> dict[str, str]:
    """Three notes, one of them changed and tied to another, and a branch."""
    made = [(await send(mnemon, page, "/v1/memory/objects", {"content": one}))["emo_id"] for one in NOTES]
    changed = {"content": "The archive moves to Paris in June.\nThe board said so.", "rationale": "The board said so."}
    await send(mnemon, page, f"/v1/memory/objects/{made[0]}/content", changed, "put")
    tie = [{"kind": "emo", "ref": made[1]}, {"kind": "uri", "ref": "https://example.org/minutes"}]
    await send(mnemon, page, f"/v1/memory/objects/{made[0]}/links", {"links": tie})
    await send(mnemon, page, "/v1/memory/branches", {"branch": "tidy", "purpose": "Prices of next year"})
    return {
        "note": f"/memory/{made[0]}", "difference": f"/memory/{made[0]}/diff?before=1&after=2",
        "branch": "/memory/branches/tidy",
    }  # fmt: skip


async def add_people(mnemon: Mnemon, page: Page) -> None:
    """Somebody else, what waits for a second person, and a token."""
    await send(mnemon, page, "/v1/users", {"email": "ben@example.org", "name": "Ben Okafor", "role": "admin"})
    await send(mnemon, page, "/v1/memory/objects", {"content": "Eve likes tea.", "subject_id": "customer-17"})
    await send(mnemon, page, "/v1/privacy/erasures", {"subject_id": "customer-17", "reason": "subject_request"})
    period = {"act": "periods.open", "period": "2026-03", "reason": "An invoice was booked twice"}
    await send(mnemon, page, "/v1/approvals", period)


async def add_texts(mnemon: Mnemon, page: Page) -> None:
    for day, text in SAID.items():
        about = {"artifact_type": "note", "source_system": "test", "ts": f"{day}T09:00:00Z", "visibility_scope": "org"}
        await send(mnemon, page, "/v1/artifacts", about | {"content": text, "title": f"Notes of {day}"})
    for text in ("# Policy\n\nBookings are kept for 24 months.", "# Policy\n\nBookings are kept for 12 months."):
        about = {"artifact_type": "doc", "source_system": "test", "source_id": "policy", "ts": "2026-02-01T09:00:00Z"}
        await send(mnemon, page, "/v1/artifacts", about | {"content": text, "visibility_scope": "org"})
        await settled(mnemon)


async def places(mnemon: Mnemon, page: Page) -> dict[str, str]:
    """The addresses of single things, as the lists of the API name them."""

    async def listed(path: str) -> Any:
        return await (await page.request.get(path)).json()

    documents = (await listed("/v1/documents?limit=100"))["items"]
    twice = [one["doc_id"] for one in documents if (one["version_number"] or 0) > 1]
    events = (await listed("/v1/semantic-events?query=Postgres"))["events"]
    jobs = (await listed("/v1/jobs?limit=1"))["items"]
    log = (await listed("/v1/events?direction=backward"))["events"]
    threads = (await listed("/v1/threads?consensus=mixed"))["items"] or (await listed("/v1/threads"))["items"]
    messages = (await listed("/v1/messages?limit=1"))["items"]
    archives = (await listed("/v1/mail/archives?limit=1"))["items"]
    found = {
        "document": f"/documents/{documents[0]['doc_id']}", "job": f"/work/{jobs[0]['job_id']}",
        "log-event": f"/log/{log[0]['id']}", "thread": f"/lists/threads/{threads[0]['thread_key']}",
        "thread-report": f"/lists/report?kind=thread&thread={threads[0]['thread_key']}",
        "message": f"/lists/messages/{messages[0]['message_key']}",
        "archive": f"/lists/archives/{archives[0]['archive_id']}",
    }  # fmt: skip
    if events:
        found["event"] = f"/events/{events[0]['event_id']}"
    if twice:
        found["changes"] = f"/documents/{twice[0]}/changes"
    return found
