"""The job that looks at a source: lists it, compares, settles what differs; goes on where an attempt ended."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, Protocol, cast
from uuid import UUID

from psycopg.types.json import Jsonb
from pydantic import BaseModel

from mnemon.buckets import BucketAddress, BucketKeys, ObjectBucket
from mnemon.db.database import Connection
from mnemon.documents.intake.files import Files
from mnemon.documents.sources.bucket_place import BucketPlace
from mnemon.documents.sources.comparing import SourceChange, compare
from mnemon.documents.sources.errors import PlaceEmpty, PlaceRefused
from mnemon.documents.sources.filters import KeyFilter
from mnemon.documents.sources.folder_place import FolderPlace, allowed_folder, opened_folders
from mnemon.documents.sources.known_objects import known_between, purged_among, served_of
from mnemon.documents.sources.places import SeenObject, SourcePlace
from mnemon.documents.sources.sealed_keys import open_keys
from mnemon.documents.sources.taking import SourceToFollow, Taking
from mnemon.errors import NotFound
from mnemon.identity.roles import has_credential
from mnemon.identity.tenants import own_tenant
from mnemon.ids import new_uuid
from mnemon.log.events import SYSTEM, Actor
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.store import EventLog
from mnemon.settings import Settings
from mnemon.telemetry import counter, logger
from mnemon.work.enqueue import enqueue
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, JobKind, NoPayload

# Files of one source that are fetched at the same time.
AT_ONCE = 8
# So few may be gone all at once without anybody having said that it is right.
FEW = 20
SOURCE = "SELECT * FROM mnemon.document_sources WHERE tenant_id = mnemon.current_tenant() AND source_id = %s"
SYNC_ROW = """
SELECT source_id, position, counts FROM mnemon.source_syncs
 WHERE tenant_id = mnemon.current_tenant() AND sync_id = %s
"""
ADD = """
INSERT INTO mnemon.source_syncs (tenant_id, sync_id, source_id, initiated_by)
VALUES (mnemon.current_tenant(), %s, %s, %s)
"""
UNFINISHED = """
SELECT sync_id FROM mnemon.source_syncs
 WHERE tenant_id = mnemon.current_tenant() AND source_id = %s AND status IN ('queued', 'running')
 ORDER BY created_at LIMIT 1
"""
# One look at a source at a time: looks are begun under this lock, and a stretch is kept under it, by whoever has the
# job. A worker that lost the job ends there with LeaseLost; what it settled of that stretch the next one finds settled.
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended('source ' || %s || mnemon.current_tenant(), 0))"
ADVANCE = """
UPDATE mnemon.source_syncs SET position = %(position)s, counts = %(counts)s, updated_at = clock_timestamp()
 WHERE tenant_id = mnemon.current_tenant() AND sync_id = %(sync)s
"""
DUE = """
SELECT source_id, created_by FROM mnemon.document_sources
 WHERE tenant_id = mnemon.current_tenant() AND NOT paused AND next_sync_at <= now() ORDER BY next_sync_at LIMIT 100
"""
NEXT = """
UPDATE mnemon.document_sources SET next_sync_at = now() + make_interval(mins => every_minutes)
 WHERE tenant_id = mnemon.current_tenant() AND source_id = %s
"""

# What is gone while it is still being read is taken out of service by the next look. A run may wait for long, and each
# look lists the whole place. A source that is looked at only when asked has no time, and gets none.
SOON = """
UPDATE mnemon.document_sources SET next_sync_at = least(next_sync_at, now() + interval '10 minutes')
 WHERE tenant_id = mnemon.current_tenant() AND source_id = %s AND next_sync_at IS NOT NULL
"""

SETTLED = counter("mnemon_source_objects", "Files of sources that were compared, by what came of it.", ["outcome"])

log = logger(__name__)


class SyncContext(Protocol):
    """What the worker hands to the handlers, as far as they need it."""

    @property
    def settings(self) -> Settings: ...
    @property
    def log(self) -> EventLog: ...
    @property
    def files(self) -> Files: ...
    @property
    def privacy(self) -> Privacy: ...


class SyncToDo(BaseModel):
    """Which look; what is known of it stands in its row."""

    sync_id: UUID
    emptied: bool = False


SYNC = JobKind("documents.sync", SyncToDo, attempts=5, time_limit=6 * 3600, backoff=Backoff(30, 600))
SYNC_DUE = JobKind("documents.sync_due", NoPayload, attempts=3)


async def begin_sync(tx: Connection, source_id: UUID, actor_id: str, *, emptied: bool = False) -> tuple[UUID, bool]:
    """Begin a look, or share the one that is under way; its id, and whether it is new."""
    await tx.execute(ONE_AT_A_TIME, (f"begin {source_id}",))
    row = await (await tx.execute(UNFINISHED, (source_id,))).fetchone()
    if row is not None:
        return row["sync_id"], False
    sync_id = new_uuid()
    await tx.execute(ADD, (sync_id, source_id, actor_id))
    await enqueue(tx, SYNC, SyncToDo(sync_id=sync_id, emptied=emptied), dedupe_key=str(source_id))
    await tx.execute(NEXT, (source_id,))
    return sync_id, True


@SYNC_DUE.handler
async def begin_due(job: Job[NoPayload]) -> dict[str, int]:
    """By the clock, for each tenant: the sources whose time has come."""
    async with job.transaction() as tx:
        rows = await (await tx.execute(DUE)).fetchall()
        for row in rows:
            await begin_sync(tx, row["source_id"], row["created_by"])
    return {"sources": len(rows)}


@SYNC.handler
async def sync(job: Job[SyncToDo]) -> dict[str, Any]:
    """The listing and what is known are walked side by side, so that a million files need no more memory than a page
    of them; each stretch that is settled is kept, and the next attempt begins after it."""
    context = cast(SyncContext, job.context)
    async with job.transaction() as tx:
        row = await (await tx.execute(SYNC_ROW, (job.payload.sync_id,))).fetchone()
        source = await (await tx.execute(SOURCE, (row["source_id"],))).fetchone() if row else None
        slug = (await own_tenant(tx, job.tenant_id)).slug
    if row is None or source is None:
        raise NotFound(f"The source of look {job.payload.sync_id} was removed.")
    followed = await _followed(context, job.tenant_id, slug, source)
    look = _Look(job, source, Taking(followed, job.database, context.log, context.files), row["counts"])
    await look.walk(row["position"])
    return look.told


class _Look:
    """One attempt at a look."""

    def __init__(self, job: Job[SyncToDo], source: dict[str, Any], taking: Taking, counts: dict[str, int]) -> None:
        self._job = job
        self._source = source
        self._taking = taking
        self._wanted = KeyFilter(source["include"], source["exclude"])
        self._counts = Counter(counts)
        self._asked_before = self._counts.pop("requests", 0)

    @property
    def told(self) -> dict[str, int]:
        return dict(self._counts) | {"requests": self._asked_before + self._taking.source.place.requests}

    async def walk(self, position: str) -> None:
        pages = self._taking.source.place.pages(position)
        while (page := await asyncio.to_thread(_next, pages)) is not None:
            if page:
                _check_order(page, position)
                await self._stretch(page, position, page[-1].key)
                position = page[-1].key
        if not self._counts["listed"] and not self._job.payload.emptied:
            await self._refuse_emptiness()
        await self._stretch([], position, None)
        if self._counts["waiting"]:
            async with self._job.transaction() as tx:
                await tx.execute(SOON, (self._source["source_id"],))

    async def _refuse_emptiness(self) -> None:
        async with self._job.transaction() as tx:
            served = await served_of(tx, self._source["source_id"])
        if served > FEW:
            name = self._source["name"]
            raise PlaceEmpty(
                f"{name} lists no file at all, and {served:,} of its files are served: a disk that is not mounted, or "
                "a bucket made anew, looks like that. If it is right, say so: "
                f"mnemon sources sync {quote(name)} --emptied",
                served=served,
            )

    async def _stretch(self, page: Sequence[SeenObject], after: str, last: str | None) -> None:
        """What is listed after one key and up to another, against what is known between them."""
        seen = await asyncio.to_thread(self._wanted_of, page)
        unwanted = {one.key for one in page} - seen.keys()
        self._counts["listed"] += len(page)
        self._counts["ignored"] += len(page) - len(seen)
        source_id = self._source["source_id"]
        async for known in known_between(self._job.database, self._job.tenant_id, source_id, after, last):
            await self._settle(compare(seen, known, unwanted))
        async with self._job.transaction() as tx:
            purged = await purged_among(tx, source_id, seen)
        self._counts["ignored"] += len(purged)
        await self._settle([SourceChange("new", one) for key, one in seen.items() if key not in purged])
        async with self._job.transaction() as tx:
            await tx.execute(ONE_AT_A_TIME, (str(source_id),))
            values = {"position": last or after, "counts": Jsonb(self.told), "sync": self._job.payload.sync_id}
            await tx.execute(ADVANCE, values)
            await self._job.report_in(tx, self.told)

    def _wanted_of(self, page: Sequence[SeenObject]) -> dict[str, SeenObject]:
        return {one.key: one for one in page if self._wanted.wants(one.key)}

    async def _settle(self, changes: Sequence[SourceChange]) -> None:
        turns = asyncio.Semaphore(AT_ONCE)

        async def one(change: SourceChange) -> None:
            async with turns:
                outcome = await self._taking.settle(change)
            self._counts[outcome] += 1
            SETTLED.labels(outcome).inc()

        changed = [change for change in changes if change.what != "unchanged"]
        self._counts["unchanged"] += len(changes) - len(changed)
        tasks = [asyncio.create_task(one(change)) for change in changed]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()


def _check_order(page: Sequence[SeenObject], after: str) -> None:
    """What is compared side by side must come in one order; out of it, files that are there would count as gone."""
    for one in page:
        if one.key <= after:
            raise PlaceRefused(f"The store does not list in the order of names: {one.key} came after {after}.")
        after = one.key


def _next(pages: Iterator[list[SeenObject]]) -> list[SeenObject] | None:
    return next(pages, None)


async def _followed(context: SyncContext, tenant: UUID, slug: str, source: dict[str, Any]) -> SourceToFollow:
    keys = BucketKeys(source["access"])
    if source["access"] == "keys":
        keys = await open_keys(context.privacy.keys, tenant, source["source_id"], source["sealed_keys"])
    by = source["created_by"]
    # Asked again at each look: what the setting no longer opens is no longer read.
    opened = opened_folders(context.settings, slug if has_credential(by) else None)
    place = await asyncio.to_thread(open_place, source, keys, opened)
    actor = Actor("human", by) if by.startswith("user:") else SYSTEM
    return SourceToFollow(tenant, source["source_id"], source["kind"], place, actor, tuple(source["tags"]))


def open_place(source: dict[str, Any], keys: BucketKeys, opened: Sequence[Path]) -> SourcePlace:
    if source["kind"] == "folder":
        return FolderPlace(allowed_folder(source["place"], opened), source["prefix"])
    address = BucketAddress(source["place"], "", source["endpoint"], source["region"] or "us-east-1")
    return BucketPlace(ObjectBucket(address, keys), source["prefix"])
