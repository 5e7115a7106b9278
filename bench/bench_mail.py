"""Mail: nothing lost, quotations labelled, threads found; parsing and storing beside the standard library; memory."""

import asyncio
import difflib
import gzip
import json
import mailbox
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from email import policy
from email.parser import BytesParser
from pathlib import Path
from uuid import UUID

from mnemon.app import Mnemon, open_mnemon, worker_of
from mnemon.log.events import SYSTEM
from mnemon.mail.archives.mbox import split_archive
from mnemon.mail.archives.opening import ArchiveStream
from mnemon.mail.archives.ranges import ArchivedMessage
from mnemon.mail.message.message import MailMessage
from mnemon.mail.message.reading import read_archived, read_message
from mnemon.mail.spans.normalized import NormalizedBody
from mnemon.mail.storing.importing import IMPORT_JOB, add_import
from mnemon.mail.threads.linking import ThreadMember, threads_of
from mnemon.settings import Settings
from mnemon.telemetry import configure_logging

ROOT = Path(__file__).parents[1]
QUICK = bool(os.environ.get("QUICK"))
DATA = Path(os.environ.get("MNEMON_EVAL_DATA") or ROOT.parent / "shared" / "eval") / "mail"
MEASURE_MEMORY = "--memory"


def read_archive(path: Path) -> Iterator[MailMessage]:
    with ArchiveStream(path) as stream:
        for ranged in split_archive(stream):
            if isinstance(ranged, ArchivedMessage):
                yield read_archived(ranged)


def quote_f1() -> float:
    """F1 over characters of the new text, the mean of the least favourable eleven of twelve mails."""
    scores = []
    for file in sorted((DATA / "quote-gold").glob("*.eml")):
        message = read_message(file.read_bytes())
        found = "".join(NormalizedBody.of(message.text, message.spans).text.split())
        gold = "".join((DATA / "quote-gold" / "expected" / f"{file.stem}.txt").read_text(encoding="utf-8").split())
        same = difflib.SequenceMatcher(None, gold, found, autojunk=False).get_matching_blocks()
        scores.append(2 * sum(one.size for one in same) / (len(gold) + len(found)))
    return min((sum(scores) - one) / (len(scores) - 1) for one in scores)


def lost_messages() -> int:
    """Of all archives: messages that their own separators or files tell of, less those that were read."""
    lost = 0
    for path, count in ((DATA / "ksummit.mboxrd.gz", 3115), (DATA / "python-committers.mbox.gz", 2876)):
        lost += count - sum(1 for _ in read_archive(path))
    keys = {one.key for path in sorted((DATA / "maven-dev").glob("*.mbox")) for one in read_archive(path)}
    lost += abs(317 - len(keys))
    malformed = sorted((DATA / "malformed").iterdir())
    return lost + len(malformed) - sum(bool(read_message(one.read_bytes()).message_id) for one in malformed)


def threads_by_references() -> int:
    members = [
        ThreadMember(one.key, one.message_id, one.in_reply_to, one.references, one.subject, one.date)
        for one in read_archive(DATA / "ksummit.mboxrd.gz")
    ]
    return len(threads_of(members, by_subject=False))


def stdlib_seconds(path: Path) -> float:
    """The standard library's way to the same: iterate, parse, decode every text."""
    started = time.perf_counter()
    parser = BytesParser(policy=policy.compat32)
    box = mailbox.mbox(path, factory=parser.parse, create=False)
    for message in box:
        for part in message.walk():
            if part.get_content_maintype() == "text":
                part.get_payload(decode=True)
    return time.perf_counter() - started


async def store_seconds(path: Path) -> tuple[int, float]:
    """Parse and store one archive with a worker of this process; no vectors."""
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-") as home:
        Path(home).chmod(0o755)
        async with open_mnemon(Settings(home=Path(home), embedder="none", upload_max_size_mb=4_000)) as mnemon:
            async with mnemon.database.owner() as owner:
                row = await (await owner.execute("SELECT tenant_id FROM mnemon.tenants LIMIT 1")).fetchone()
            assert row is not None
            return await _stored(mnemon, row["tenant_id"], path)


async def _stored(mnemon: Mnemon, tenant: UUID, path: Path) -> tuple[int, float]:
    received = await asyncio.to_thread(mnemon.files.take_copy, tenant, path)
    async with mnemon.database.transaction(tenant) as tx:
        await add_import(tx, received.run_id, "bench", "file", str(path), SYSTEM)
    worker = worker_of(mnemon, [IMPORT_JOB])
    started = time.perf_counter()
    working = asyncio.create_task(worker.run())
    while True:
        async with mnemon.database.transaction(tenant) as tx:
            found = await tx.execute("SELECT status, counts FROM mnemon.mail_imports")
            row = await found.fetchone()
        assert row is not None
        if row["status"] in ("succeeded", "failed"):
            break
        await asyncio.sleep(0.05)
    seconds = time.perf_counter() - started
    worker.stop()
    await working
    assert row["status"] == "succeeded", row
    return row["counts"]["messages"], seconds


def memory_of_a_large_archive() -> float:
    """In a process of its own: the most memory that parting and reading a long archive takes, in MB."""
    done = subprocess.run([sys.executable, __file__, MEASURE_MEMORY], capture_output=True, text=True, check=True)
    return float(done.stdout)


def measure_memory() -> None:
    times = 4 if QUICK else 42
    with tempfile.NamedTemporaryFile() as large:
        for _ in range(times):
            with gzip.open(DATA / "ksummit.mboxrd.gz") as file:
                shutil.copyfileobj(file, large)
        large.flush()
        count = sum(1 for _ in read_archive(Path(large.name)))
    assert count == 3115 * times
    print(round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1))


def main() -> None:
    if not DATA.is_dir():
        sys.exit(f"There is no mail in {DATA}: set MNEMON_EVAL_DATA to the folder above.")
    configure_logging("WARNING", "console")
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "ksummit.mbox"
        with gzip.open(DATA / "ksummit.mboxrd.gz") as file:
            plain.write_bytes(file.read())
        stdlib = stdlib_seconds(plain)
        started = time.perf_counter()
        parsed = sum(1 for _ in read_archive(plain))
        own = time.perf_counter() - started
        messages, seconds = asyncio.run(store_seconds(plain))
    figures = {
        "quote_f1": round(quote_f1(), 4),
        "messages_lost": lost_messages(),
        "threads_ksummit": threads_by_references(),
        "parse_per_s": round(parsed / own),
        "stdlib_per_s": round(parsed / stdlib),
        "parse_store_per_s": round(messages / seconds),
        "vs_stdlib": round((messages / seconds) / (parsed / stdlib), 2),
        "rss_mb_1gb": memory_of_a_large_archive(),
    }
    for name, value in figures.items():
        print(f"{name:<20} {value}")
    print(json.dumps(figures))


if __name__ == "__main__":
    if MEASURE_MEMORY in sys.argv:
        measure_memory()
    else:
        main()
