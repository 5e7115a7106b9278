"""A bucket of 10,000 objects is followed: the first looks, 100 changed and 50 removed, and a look at what is as it was.

The store is moto's server in a process of its own, so its time is in the figures. Of the documents only those that
change later are read in full before: reading is measured by bench_ingest.
"""

import asyncio
import json
import logging
import os
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID

import structlog
from local_services import KEYS, REGION, amazon_client, amazon_service, running

from mnemon.app import Mnemon, open_mnemon
from mnemon.documents.ingest.job import INGEST
from mnemon.documents.sources import inputs, operations
from mnemon.documents.sources.syncing import SYNC
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.identity.tenants import tenant_by_slug
from mnemon.log.events import SYSTEM
from mnemon.operations import Caller
from mnemon.settings import Settings
from mnemon.work.worker import Worker

QUICK = bool(os.environ.get("QUICK"))
OBJECTS, CHANGED, REMOVED = (1_000, 20, 10) if QUICK else (10_000, 100, 50)
BUCKET = "bench-sync"
# What a look may touch: what is known of objects, and the runs and served versions of their documents.
OF_OBJECTS = "SELECT object_key, mark, status, synced_at FROM mnemon.source_objects"
OF_DOCUMENTS = """
SELECT o.object_key,
       (SELECT count(*) FROM mnemon.ingestion_runs r WHERE r.tenant_id = o.tenant_id AND r.doc_id = o.doc_id) AS runs,
       (SELECT count(*) FROM mnemon.document_revisions v
         WHERE v.tenant_id = o.tenant_id AND v.doc_id = o.doc_id AND v.is_active) AS served
  FROM mnemon.source_objects o
"""
UNREAD = "SELECT count(*) AS unread FROM mnemon.ingestion_runs WHERE status IN ('queued', 'running')"
ENDED = "SELECT status, counts, error FROM mnemon.source_syncs WHERE sync_id = %s"


class Bucket:
    """Objects under keys that are spread over the listing."""

    def __init__(self, port: int) -> None:
        self.endpoint = f"http://127.0.0.1:{port}"
        self._client = amazon_client("s3", port)
        self._client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})

    def put(self, numbers: Sequence[int], words: str) -> None:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda number: self._put(number, words), numbers))

    def _put(self, number: int, words: str) -> None:
        body = f"# Rule {number}\n\nThe office decided {words} that rule {number} holds from 1 March 2026.\n".encode()
        self._client.put_object(Bucket=BUCKET, Key=key_of(number), Body=body)

    def remove(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self._client.delete_object(Bucket=BUCKET, Key=key_of(number))


def key_of(number: int) -> str:
    return f"rules/{number % 97:02}/{number:06}.md"


class Follower:
    """A Mnemon that follows the bucket."""

    def __init__(self, mnemon: Mnemon, tenant: UUID) -> None:
        self.mnemon, self.tenant = mnemon, tenant
        self._caller = Caller(tenant, SYSTEM)

    async def rows(self, statement: str, *values: object) -> list[dict]:
        async with self.mnemon.database.transaction(self.tenant) as tx:
            return await (await tx.execute(statement, values)).fetchall()

    async def add(self, endpoint: str) -> UUID:
        asked = inputs.NewSource(
            location=f"s3://{BUCKET}/rules/", name="rules", endpoint=endpoint, region=REGION, server_keys=True
        )
        return (await operations.add(self.mnemon, self._caller, asked)).last_sync.sync_id

    async def look(self, sync_id: UUID | None = None) -> tuple[dict[str, int], float]:
        """What it found, and the seconds that it took."""
        began = time.perf_counter()
        if sync_id is None:
            begun = await operations.sync_now(self.mnemon, self._caller, inputs.LookAsked(source="rules"))
            sync_id = begun.sync_id
        while True:
            [row] = await self.rows(ENDED, sync_id)
            assert row["status"] != "failed", row["error"]
            if row["status"] == "succeeded":
                return row["counts"], time.perf_counter() - began
            await asyncio.sleep(0.02)

    async def state(self) -> tuple[dict, dict]:
        objects = {
            row["object_key"]: (row["mark"], row["status"], row["synced_at"]) for row in await self.rows(OF_OBJECTS)
        }
        documents = {row["object_key"]: (row["runs"], row["served"]) for row in await self.rows(OF_DOCUMENTS)}
        return objects, documents


async def work(mnemon: Mnemon, kinds: list) -> tuple[Worker, asyncio.Task]:
    worker = Worker(mnemon.database, kinds, 4, context=mnemon, poll=0.1)
    return worker, asyncio.create_task(worker.run())


async def measure(home: Path, bucket: Bucket) -> dict[str, float]:
    settings = Settings(home=home, embedder="none", source_s3_endpoints=(bucket.endpoint,))
    numbers = [number * (OBJECTS // (CHANGED + REMOVED)) for number in range(CHANGED + REMOVED)]
    changed, removed = numbers[:CHANGED], numbers[CHANGED:]
    async with open_mnemon(settings) as mnemon:
        follower = Follower(mnemon, (await tenant_by_slug(mnemon.database, DEFAULT_SLUG)).tenant_id)
        bucket.put(numbers, "at first")
        worker, task = await work(mnemon, [SYNC, INGEST])
        await follower.look(await follower.add(bucket.endpoint))
        while (await follower.rows(UNREAD))[0]["unread"]:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        worker.stop()
        await task

        worker, task = await work(mnemon, [SYNC])
        bucket.put(sorted(set(range(OBJECTS)) - set(numbers)), "at first")
        looks = {"first": await follower.look()}
        before = await follower.state()
        bucket.put(changed, "again")
        bucket.remove(removed)
        looks["changes"] = await follower.look()
        after = await follower.state()
        looks["nothing"] = await follower.look()
        last = await follower.state()
        worker.stop()
        await task
    check(before, after, last, set(map(key_of, changed)), set(map(key_of, removed)))
    return told(looks)


def check(before: tuple, after: tuple, last: tuple, changed: set[str], removed: set[str]) -> None:
    """Exactly those that changed were touched, and then nothing."""
    touched = [
        {key for key in was.keys() | now.keys() if was.get(key) != now.get(key)}
        for was, now in zip(before, after, strict=True)
    ]
    assert touched[0] == changed | removed, f"rows of objects: {len(touched[0])}"
    assert touched[1] == changed | removed, f"documents: {len(touched[1])}"
    assert all(after[0][key][1] == "deleted" for key in removed)
    assert all(after[1][key] == (1, 0) for key in removed), "no longer served"
    assert all(after[1][key] == (2, 1) for key in changed), "a run for another version"
    assert last == after, "the second look touched something"


def told(looks: dict[str, tuple[dict[str, int], float]]) -> dict[str, float]:
    print(f"\n{OBJECTS:,} objects, {CHANGED} changed, {REMOVED} removed\n{'look':<10}{'s':>8}{'requests':>10}  found")
    for name, (counts, seconds) in looks.items():
        found = {what: count for what, count in counts.items() if count and what != "requests"}
        print(f"{name:<10}{seconds:>8.1f}{counts['requests']:>10,}  {found}")
    results: dict[str, float] = {"sync_objects": OBJECTS}
    for name, (counts, seconds) in looks.items():
        results |= {f"sync_{name}_s": round(seconds, 2), f"sync_{name}_requests": counts["requests"]}
    results["sync_objects_touched"] = looks["changes"][0]["changed"] + looks["changes"][0]["deactivated"]
    return results


def main() -> None:
    os.environ |= KEYS
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with running(amazon_service()) as service:
            results = asyncio.run(measure(Path(folder), Bucket(service.port)))
    print(json.dumps({"bench": "sync", "results": results}))


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    main()
