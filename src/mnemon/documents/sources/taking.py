"""One file of a source: fetched and taken in, taken out of service, or put back into it."""

import asyncio
import contextlib
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mnemon.buckets import BucketRefused, ObjectGone
from mnemon.db.database import Database
from mnemon.documents import activation
from mnemon.documents.errors import DocumentPurged, NothingActive
from mnemon.documents.intake.files import Files, Received
from mnemon.documents.intake.locks import lock_document
from mnemon.documents.intake.origin import Origin
from mnemon.documents.intake.receive import accept
from mnemon.documents.sources.comparing import SourceChange
from mnemon.documents.sources.known_objects import is_followed_elsewhere, note_gone, note_object
from mnemon.documents.sources.places import SeenObject, SourcePlace
from mnemon.errors import DatabaseUnavailable, MnemonError, NotFound
from mnemon.log.events import Actor
from mnemon.log.store import EventLog
from mnemon.telemetry import logger

UNREAD = """
SELECT FROM mnemon.ingestion_runs
 WHERE tenant_id = mnemon.current_tenant() AND doc_id = %s AND status IN ('queued', 'running') LIMIT 1
"""
OF_CONTENT = """
SELECT doc_version_id FROM mnemon.document_revisions
 WHERE tenant_id = mnemon.current_tenant() AND doc_id = %s AND content_hash = %s
 ORDER BY version_number DESC LIMIT 1
"""

log = logger(__name__)


@dataclass(frozen=True)
class SourceToFollow:
    """A source while it is looked at: where it is, whose it is, and what its documents are told."""

    tenant: UUID
    source_id: UUID
    kind: str
    place: SourcePlace
    actor: Actor
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Taking:
    """Settles what changed. What goes wrong with one file is noted there, and the others go on."""

    source: SourceToFollow
    database: Database
    events: EventLog
    files: Files

    async def settle(self, change: SourceChange) -> str:
        """Do what the change asks for; what came of it, as it is counted."""
        if change.what in ("gone", "unwanted"):
            return await self._gone(change)
        if change.what == "back" and await self._put_back(change):
            return "restored"
        return await self._take(change) if change.what != "unchanged" else "unchanged"

    async def _gone(self, change: SourceChange) -> str:
        assert change.known is not None
        doc_id, tenant, key = change.known.doc_id, self.source.tenant, change.known.object_key
        if doc_id is not None:
            async with self.database.transaction(tenant) as tx:
                # Of two sources that want it no more, the second sees what the first has noted.
                await lock_document(tx, doc_id)
                if change.what == "unwanted" and await is_followed_elsewhere(tx, self.source.source_id, doc_id):
                    await note_gone(tx, self.source.source_id, key)
                    return "kept_by_another"
                if await (await tx.execute(UNREAD, (doc_id,))).fetchone() is not None:
                    # A run would serve it again when it ends: the next look finds it gone once more.
                    return "waiting"
            with contextlib.suppress(NothingActive, DocumentPurged, NotFound):
                await activation.deactivate(self.events, tenant, self.source.actor, doc_id)
        async with self.database.transaction(tenant) as tx:
            await note_gone(tx, self.source.source_id, key)
        return "deactivated"

    async def _put_back(self, change: SourceChange) -> bool:
        """Whether the very content that is there again could be served."""
        seen, known = change.seen, change.known
        assert seen is not None and known is not None and known.doc_id is not None
        async with self.database.transaction(self.source.tenant) as tx:
            row = await (await tx.execute(OF_CONTENT, (known.doc_id, known.content_hash))).fetchone()
        if row is None:
            return False
        try:
            await activation.reactivate(
                self.events, self.source.tenant, self.source.actor, known.doc_id, row["doc_version_id"]
            )
        except (NothingActive, DocumentPurged, NotFound):
            return False
        await self._note(seen, "active", doc_id=known.doc_id, content_hash=known.content_hash)
        return True

    async def _take(self, change: SourceChange) -> str:
        seen = change.seen
        assert seen is not None
        try:
            received = await asyncio.to_thread(self._fetch, seen)
            outcome = await accept(
                self.events, self.files, self.source.tenant, self.source.actor, received, self._origin(seen)
            )
        except DatabaseUnavailable:
            raise
        except ObjectGone:
            return "vanished"
        except (MnemonError, OSError) as failure:
            return await self._failed(seen, failure)
        await self._note(seen, "active", doc_id=outcome.doc_id, content_hash=received.content_hash)
        return {"new": "new", "new_version": "changed", "reprocess": "restored"}.get(outcome.dedup, "unchanged")

    def _fetch(self, seen: SeenObject) -> Received:
        incoming = self.files.receive(self.source.tenant, seen.key)
        try:
            self.source.place.read(seen.key, incoming.write)
            return incoming.complete()
        except BaseException:
            incoming.abandon()
            raise

    def _origin(self, seen: SeenObject) -> Origin:
        return Origin(
            source_uri=self.source.place.address_of(seen.key), source_type=self.source.kind, run_type="s3_sync",
            source_system=self.source.kind, source_id=seen.key if len(seen.key) <= 500 else None,
            tags=list(self.source.tags) or None,
        )  # fmt: skip

    async def _failed(self, seen: SeenObject, failure: MnemonError | OSError) -> str:
        # What the store does not let us read it may let us read later, though the file does not change.
        is_final = isinstance(failure, MnemonError) and failure.status < 500 and not isinstance(failure, BucketRefused)
        words = failure.message if isinstance(failure, MnemonError) else str(failure)
        log.warning("source_object_not_taken", source_id=self.source.source_id, error=words, final=is_final)
        await self._note(seen, "refused" if is_final else "failed", error=words[:1000])
        return "refused" if is_final else "failed"

    async def _note(self, seen: SeenObject, status: str, **told: Any) -> None:
        async with self.database.transaction(self.source.tenant) as tx:
            await note_object(tx, self.source.source_id, seen, status, **told)
