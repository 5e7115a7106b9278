"""How fast mail is parsed and stored, beside the standard library and mu; memory of a long archive; pages of a list."""

import asyncio
import gzip
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy
from email.parser import BytesParser
from pathlib import Path
from typing import Any

from mail_door import KINDS, STORING, MailRoom, mail_room

from mnemon.mail import inputs, operations
from mnemon.mail.archives.mbox import split_archive
from mnemon.mail.archives.opening import ArchiveStream
from mnemon.mail.archives.ranges import ArchivedMessage
from mnemon.mail.message.message import MailMessage
from mnemon.mail.message.reading import read_archived

MEASURE_MEMORY = "--memory"
# Ids and subjects that differ from copy to copy make a long list of a short one.
NAMES = re.compile(rb"<(?=[^<>\s@]{1,200}@[^<>\s@]{1,200}>)|^Subject: ", re.MULTILINE)
PAGES = 30


def read_archive(path: Path) -> Iterator[MailMessage]:
    with ArchiveStream(path) as stream:
        for ranged in split_archive(stream):
            if isinstance(ranged, ArchivedMessage):
                yield read_archived(ranged)


def stdlib_pass(path: Path) -> int:
    """The standard library's way to the same: iterate, parse, decode every text; how many messages it finds."""
    import mailbox

    messages = 0
    parser = BytesParser(policy=policy.compat32)
    box = mailbox.mbox(path, factory=parser.parse, create=False)
    for message in box:
        messages += 1
        for part in message.walk():
            if part.get_content_maintype() == "text":
                part.get_payload(decode=True)
    return messages


def mu_seconds(path: Path, beside: Path) -> float | None:
    """mu (Debian: maildir-utils) indexes the same mails in a Maildir; None where it is not installed."""
    import mailbox

    program = shutil.which("mu")
    if program is None:
        print("mu_per_s: mu is not installed (Debian: maildir-utils), so it is not measured.")
        return None
    folder = beside / "maildir"
    box = mailbox.Maildir(folder)
    for message in mailbox.mbox(path, create=False):
        box.add(message)
    home = ["--muhome", str(beside / "mu")]
    subprocess.run([program, "init", *home, "--maildir", str(folder)], check=True, capture_output=True)
    started = time.perf_counter()
    subprocess.run([program, "index", *home, "--quiet"], check=True, capture_output=True)
    return time.perf_counter() - started


@dataclass(frozen=True)
class StoredIn:
    """How long an import took: from the asking, alone, and in seconds of a processor, the database's among them."""

    messages: int
    whole: float
    alone: float
    processor: float


async def stored_in(path: Path) -> StoredIn:
    """Import one archive without vectors."""
    async with mail_room(embedder="none") as room:
        before = time.process_time() + await _database_seconds(room)
        asked = datetime.now(UTC)
        [done] = await room.put_in([path], STORING)
        used = time.process_time() + await _database_seconds(room) - before
        assert done.started_at is not None and done.finished_at is not None
        whole, alone = done.finished_at - asked, done.finished_at - done.started_at
        return StoredIn(done.counts["messages"], whole.total_seconds(), alone.total_seconds(), used)


async def _database_seconds(room: MailRoom) -> float:
    """Of all processes of the server, those that have ended among them."""
    async with room.mnemon.database.owner() as owner:
        row = await (await owner.execute("SELECT pg_backend_pid() AS process")).fetchone()
        assert row is not None
        server = _stat(row["process"])[1]
    ticks = sum(map(int, _stat(int(server))[11:15]))
    for process in filter(str.isdigit, (one.name for one in Path("/proc").iterdir())):
        with suppress(OSError):
            found = _stat(int(process))
            ticks += sum(map(int, found[11:13])) if found[1] == server else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(process: int) -> list[str]:
    """What the kernel tells of a process after its name: state, parent, …"""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


async def pipeline_per_s(path: Path) -> float:
    """Messages a second through all of it: stored, cut, embedded, consensus read, a report written."""
    from mnemon.reports import operations as reports
    from mnemon.reports.operations import report

    async with mail_room() as room:
        started = time.perf_counter()
        [done] = await room.put_in([path], KINDS)
        wanted = report.input.model_validate({"kind": "weekly"})
        await reports.report(room.mnemon, room.caller, wanted)
        return done.counts["messages"] / (time.perf_counter() - started)


def rss_of_import(source: Path, times: int) -> float:
    """In a process of its own: the most memory that importing a long archive takes there, in MB."""
    command = [sys.executable, str(Path(__file__)), MEASURE_MEMORY, str(source), str(times)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout.split()[-1])


def measure_memory(source: Path, times: int) -> None:
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-") as folder:
        large = long_archive(source, Path(folder) / "long.mbox", times)
        stored, size = asyncio.run(_import(large)), large.stat().st_size
    print(f"{stored} messages, {size >> 20} MB", file=sys.stderr)
    print(round(_most_memory_kb() / 1024, 1))


def _most_memory_kb() -> int:
    """From the kernel's own count: `getrusage` also has what the process had that this one was started from."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0])


async def _import(path: Path) -> int:
    async with mail_room(embedder="none") as room:
        [done] = await room.put_in([path], STORING)
        return int(done.counts["messages"])


def long_archive(source: Path, target: Path, times: int) -> Path:
    """The archive so many times over, each time as another year of the same talkative list."""
    content = gzip.decompress(source.read_bytes()) if source.suffix == ".gz" else source.read_bytes()
    with target.open("wb") as writing:
        for number in range(times):
            writing.write(NAMES.sub(lambda found, mark=b"%d." % number: found[0] + mark, content))
    return target


async def thread_pages(messages: int) -> dict[str, float]:
    """How long the page of a thread and the first page of all threads take, of a list of so many messages."""
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-") as folder:
        archive = _list_of(Path(folder) / "list.mbox", messages)
        async with mail_room(embedder="none") as room:
            await room.put_in([archive], STORING)
            threads = await operations.threads(room.mnemon, room.caller, inputs.ThreadsAsked(limit=PAGES))
            names = [one.thread_id for one in threads.items]
            return {
                "thread_page_ms": await _middle(room, [_shown(name) for name in names]),
                "thread_list_ms": await _middle(room, [_listed() for _ in range(PAGES)]),
                "thread_list_of_draft_ms": await _middle(room, [_listed(draft="draft-ietf-list-9") for _ in range(9)]),
                "thread_list_of_person_ms": await _middle(room, [_listed(person="p7@example.org") for _ in range(9)]),
            }


Page = Callable[[MailRoom], Awaitable[Any]]


def _shown(name: str) -> Page:
    return lambda room: operations.thread(room.mnemon, room.caller, inputs.ThreadAsked(thread=name))


def _listed(**filters: str) -> Page:
    asked = inputs.ThreadsAsked.model_validate(filters)
    return lambda room: operations.threads(room.mnemon, room.caller, asked)


async def _middle(room: MailRoom, pages: list[Page]) -> float:
    seconds = []
    for page in pages:
        started = time.perf_counter()
        await page(room)
        seconds.append(time.perf_counter() - started)
    return round(1000 * statistics.median(seconds), 1)


def _list_of(path: Path, messages: int) -> Path:
    """Threads of 25 messages by 200 people, one in ten about a draft."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(messages):
            thread, place = divmod(number, 25)
            moment = datetime.fromtimestamp(1_300_000_000 + 600 * number, UTC)
            about = f" It is about draft-ietf-list-{thread % 100}-0{place % 9}." if number % 10 == 0 else ""
            answers = f"In-Reply-To: <{thread}.{(place - 1) // 2}@example.org>\n" if place else ""
            file.write(
                f"From p@example.org {moment:%a %b %d %H:%M:%S %Y}\nFrom: Person {number % 200} <p{number % 200}"
                f"@example.org>\nDate: {moment:%a, %d %b %Y %H:%M:%S} +0000\nMessage-ID: <{thread}.{place}@example.org>"
                f"\n{answers}Subject: {'Re: ' if place else ''}Matter {thread}\nList-Id: <list.example.org>\n\n"
                f"Number {number} of the list.{about}\n\n"
            )
    return path


if __name__ == "__main__":
    measure_memory(Path(sys.argv[-2]), int(sys.argv[-1]))
