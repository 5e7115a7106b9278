"""A million keys are looked at by one worker process: seconds, requests, and the memory that the worker takes.

All keys are known and none has changed, so that what is measured is the listing and the comparing. Half-way the worker
is killed, and another goes on where it was: hardly a page is listed twice.
"""

import asyncio
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import structlog
from listing_store import key_of, mark_of
from local_services import KEYS, REGION, LocalService, free_port, running

from mnemon.app import Mnemon, open_mnemon
from mnemon.documents.sources import inputs, operations
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.identity.tenants import tenant_by_slug
from mnemon.log.events import SYSTEM
from mnemon.operations import Caller
from mnemon.settings import Settings

QUICK = bool(os.environ.get("QUICK"))
OBJECTS = int(os.environ.get("OBJECTS", "50000" if QUICK else "1000000"))
PAGE = 1_000
PATIENCE = 3_600
LEASE = 10
ADD = """
INSERT INTO mnemon.source_objects (tenant_id, source_id, object_key, mark, size_bytes, status)
SELECT %s, %s, 'rules/' || lpad(number::text, 7, '0') || '.md', lpad(to_hex(number), 32, '0') || ' 100', 100, 'active'
  FROM generate_series(0, %s) AS number
"""
LOOK = "SELECT status, position, counts, error, attempts FROM mnemon.source_syncs WHERE sync_id = %s"
KNOWN = "SELECT min(object_key) AS key, min(mark) AS mark FROM mnemon.source_objects WHERE tenant_id = %s"


def memory_of(process: int, what: str) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(what)).split()[1]) / 1024


class ListingWorker:
    """`mnemon work` with a home and a database of its own."""

    def __init__(self, home: Path) -> None:
        told = {"MNEMON_HOME": str(home), "MNEMON_EMBEDDER": "none", "MNEMON_LOG_LEVEL": "ERROR"}
        lease = {"MNEMON_WORKER_LEASE_SECONDS": str(LEASE)}
        self._environment = os.environ | KEYS | told | lease
        self._start()

    def _start(self) -> None:
        command = [sys.executable, "-m", "mnemon", "work", "--slots", "1", "--kinds", "documents.sync"]
        self.process = subprocess.Popen(command, env=self._environment)

    def kill_and_start(self) -> None:
        self.end()
        self._start()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def pages_asked_for(endpoint: str) -> int:
    with urllib.request.urlopen(f"{endpoint}/asked") as answer:
        return int(answer.read())


async def one_row(mnemon: Mnemon, statement: str, *values: object) -> dict:
    async with mnemon.database.owner() as owner:
        return await (await owner.execute(statement, values)).fetchone()


async def measure(home: Path, store: LocalService) -> dict[str, float]:
    endpoint = f"http://127.0.0.1:{store.port}"
    settings = Settings(home=home, embedder="none", source_s3_endpoints=(endpoint,))
    async with open_mnemon(settings) as mnemon:
        tenant = (await tenant_by_slug(mnemon.database, DEFAULT_SLUG)).tenant_id
        asked = inputs.NewSource(
            location="s3://bench/rules/", name="rules", endpoint=endpoint, region=REGION, server_keys=True
        )
        added = await operations.add(mnemon, Caller(tenant, SYSTEM), asked)
        async with mnemon.database.owner() as owner:
            await owner.execute(ADD, (tenant, added.source_id, OBJECTS - 1))
        known = await one_row(mnemon, KNOWN, tenant)
        assert (known["key"], known["mark"]) == (key_of(0), mark_of(0))
        worker = ListingWorker(home)
        try:
            return await follow(mnemon, added.last_sync.sync_id, worker, endpoint)
        finally:
            worker.end()


async def follow(mnemon: Mnemon, sync_id: object, worker: ListingWorker, endpoint: str) -> dict[str, float]:
    began, killed, early, most = time.monotonic(), 0.0, 0.0, 0.0
    while True:
        row = await one_row(mnemon, LOOK, sync_id)
        assert row["status"] != "failed" and time.monotonic() - began < PATIENCE, row
        listed = row["counts"].get("listed", 0)
        if row["status"] == "succeeded":
            break
        if listed:
            now = memory_of(worker.process.pid, "VmRSS")
            most = max(most, now)
            early = early or (now if listed >= min(10_000, OBJECTS // 10) else 0.0)
        if not killed and listed >= OBJECTS // 2:
            worker.kill_and_start()
            killed = time.monotonic()
        await asyncio.sleep(0.2)
    seconds = time.monotonic() - began
    requests = await asyncio.to_thread(pages_asked_for, endpoint)
    assert listed == row["counts"]["unchanged"] == OBJECTS, row
    results = {
        "listing_objects": OBJECTS, "listing_s": round(seconds, 1), "listing_pages": OBJECTS // PAGE,
        "listing_requests": requests, "listing_early_mb": round(early), "listing_most_mb": round(most),
        "listing_attempts": row["attempts"],
    }  # fmt: skip
    print(f"\n{OBJECTS:,} keys, the worker killed half-way: {seconds:.1f} s, {requests:,} requests for "
          f"{OBJECTS // PAGE:,} pages, {early:.0f} MB early on, {most:.0f} MB at the most")  # fmt: skip
    return results


def main() -> None:
    os.environ |= KEYS
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        port = free_port()
        script = str(Path(__file__).parent / "listing_store.py")
        with running(LocalService("the store", port, [sys.executable, script, str(port), str(OBJECTS)])) as store:
            results = asyncio.run(measure(Path(folder), store))
    print(json.dumps({"bench": "listing", "results": results}))


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    main()
