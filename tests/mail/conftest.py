"""A running Mnemon that imports archives, and what is then in it."""

import mailbox
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.mail.jobs import KINDS
from mnemon.mail.storing.importing import IMPORT_JOB, add_import
from mnemon.mail.storing.passages import PASSAGES
from mnemon.settings import Settings
from mnemon.work.kinds import Backoff
from mnemon.work.worker import Worker
from tests.api.conftest import TESTER, admin, caller_address, client, mnemon, user
from tests.work.conftest import Eventually, eventually, running

__all__ = ["admin", "caller_address", "client", "eventually", "mnemon", "user"]

Imported = Callable[..., Awaitable[dict[str, Any]]]
State = Callable[[], Awaitable[dict[str, list[dict[str, Any]]]]]
PEOPLE = ("Ada Berg", "Ben Cole", "Cleo Dahl", "Dan Egge", "Eva Falk")
# What stays the same in whatever order archives come; times and numbers of events do not.
STATE = {
    "mail_archives": "archive_id, status, message_count, defect_count, format",
    "mail_messages": "message_key, doc_id, doc_version_id, message_id, in_reply_to, refs, list_name, subject, "
    "sender_name, sender_email, recipients, date, spans, thread_key, parent_id, result_of, choice, purged_at IS NULL",
    "mail_copies": "archive_id, byte_offset, byte_length, digest, message_key, copy_key",
    "mail_defects": "archive_id, byte_offset, byte_length, reason",
    "mail_threads": "thread_key, thread_id, subject, participants, message_count, ghost_count, first_message_date, "
    "last_message_date, draft_mentions",
    "mail_thread_ids": "id_key, thread_key",
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Without a model: what is made of mail here does not depend on vectors."""
    return Settings(home=tmp_path / "home", embedder="none")


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IMPORT_JOB, "backoff", Backoff(0, 0))
    monkeypatch.setattr(PASSAGES, "backoff", Backoff(0, 0))


@pytest.fixture
async def mail_worker(mnemon: Mnemon) -> AsyncIterator[Worker]:
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(running(Worker(mnemon.database, KINDS, context=mnemon, poll=0.1)))


@pytest.fixture
def imported(mnemon: Mnemon, tenant: UUID, eventually: Eventually) -> Imported:
    """Import an archive and see it through, with a worker that runs already; the import's row."""

    async def run(archive: Path, source: str = "list") -> dict[str, Any]:
        received = mnemon.files.take_copy(tenant, archive)
        async with mnemon.database.transaction(tenant) as tx:
            await add_import(tx, received.run_id, source, "file", str(archive), TESTER)

        async def ended() -> dict[str, Any] | None:
            async with mnemon.database.transaction(tenant) as tx:
                found = await tx.execute("SELECT * FROM mnemon.mail_imports WHERE import_id = %s", (received.run_id,))
                row = await found.fetchone()
            return row if row and row["status"] in ("succeeded", "failed") else None

        found: dict[str, Any] = await eventually(ended)
        return found

    return run


@pytest.fixture
def state(mnemon: Mnemon, tenant: UUID) -> State:
    """All rows of the lens, and the texts that are served."""

    async def read() -> dict[str, list[dict[str, Any]]]:
        return await mail_state(mnemon, tenant)

    return read


async def mail_state(mnemon: Mnemon, tenant: UUID) -> dict[str, list[dict[str, Any]]]:
    found = {}
    async with mnemon.database.transaction(tenant) as tx:
        for table, columns in STATE.items():
            statement = f"SELECT {columns} FROM mnemon.{table} ORDER BY 1, 2"
            found[table] = await (await tx.execute(statement)).fetchall()
        texts = """SELECT r.doc_id, r.doc_version_id, r.text_hash, t.text, t.blocks FROM mnemon.document_revisions r
                   JOIN mnemon.revision_texts t USING (tenant_id, doc_version_id) WHERE r.is_active ORDER BY 1"""
        found["texts"] = await (await tx.execute(texts)).fetchall()
    return found


def message(number: int, text: str, subject: str = "Plan", to: int | None = None, **headers: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = headers.pop("sender", f"{PEOPLE[number % 5]} <p{number % 5}@example.org>")
    mail["To"] = "list@lists.example.org"
    mail["Subject"] = subject if to is None else f"Re: {subject}"
    mail["Message-ID"] = f"<{number}@example.org>"
    mail["Date"] = f"Mon, {1 + number % 28:02} Jan 2024 10:{number % 60:02}:00 +0000"
    mail["List-Id"] = "<list.lists.example.org>"
    if to is not None:
        mail["In-Reply-To"] = f"<{to}@example.org>"
    for name, value in headers.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(text)
    return mail


def write_mbox(path: Path, mails: list[EmailMessage]) -> Path:
    box = mailbox.mbox(path)
    for mail in mails:
        box.add(mail)
    box.close()
    return path


@pytest.fixture
def small_list(tmp_path: Path) -> Path:
    """Nine messages in three threads."""
    mails = [message(1, "Shall we ship draft-ietf-quic-transport-34?\n")]
    mails += [message(n, f"> Shall we ship?\n\nAnswer {n}.\n", to=1) for n in range(2, 6)]
    mails += [message(6, "Another thing.\n", subject="Other"), message(7, "Yes.\n", subject="Other", to=6)]
    mails += [message(8, "Late.\n", subject="Gone", to=77), message(9, "Later.\n", subject="Gone", to=77)]
    return write_mbox(tmp_path / "list.mbox", mails)
