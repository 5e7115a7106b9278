"""What a user may do with sources, declared once for REST, the command line and the web."""

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

from mnemon.buckets import BucketKeys
from mnemon.db.database import Database
from mnemon.documents.sources import events as happened
from mnemon.documents.sources import inputs, outputs
from mnemon.documents.sources.errors import PlaceRefused
from mnemon.documents.sources.folder_place import allowed_folder, opened_folders
from mnemon.documents.sources.sealed_keys import seal_keys
from mnemon.documents.sources.stored_sources import (
    ALL,
    CHANGE,
    REMOVE,
    SEAL,
    add_source,
    location_of,
    shown,
    source_by_name,
    syncs_of,
)
from mnemon.documents.sources.syncing import begin_sync
from mnemon.errors import Conflict, InvalidRequest, NotAllowed, NotFound
from mnemon.identity.changes import row_seal
from mnemon.identity.roles import Action
from mnemon.identity.tenants import own_tenant
from mnemon.ids import new_uuid
from mnemon.inputs import from_cursor, page_of
from mnemon.log.append.transaction import LogTransaction
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.store import EventLog
from mnemon.log.types.event_type import EventType
from mnemon.operations import Caller, Door, operation
from mnemon.settings import Settings

OBJECTS = """
SELECT object_key AS key, status, size_bytes, modified_at, doc_id, error, synced_at FROM mnemon.source_objects
 WHERE tenant_id = mnemon.current_tenant() AND source_id = %(source)s AND status <> 'purged'
   AND object_key > %(after)s AND (%(status)s::text IS NULL OR status = %(status)s)
 ORDER BY object_key LIMIT %(limit)s
"""
FOR_ADMINISTRATORS: Mapping[Door, str] = {
    "mcp": "An administrator opens a place, not an agent.",
}
ONE = {"source": "policies"}


class Parts(Protocol):
    """What these operations need of Mnemon."""

    @property
    def settings(self) -> Settings: ...
    @property
    def database(self) -> Database: ...
    @property
    def log(self) -> EventLog: ...
    @property
    def privacy(self) -> Privacy: ...


@operation("sources.list", Action.MANAGE_SOURCES, read_only=True, example={}, absent=FOR_ADMINISTRATORS)
async def list_sources(mnemon: Parts, caller: Caller, asked: inputs.FollowedSources) -> outputs.FollowedPlaces:
    """List the folders and buckets whose files become documents, with the last look at each."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        rows = await (await tx.execute(ALL)).fetchall()
        return outputs.FollowedPlaces(items=[await shown(tx, row) for row in rows])


@operation(
    "sources.get", Action.MANAGE_SOURCES, read_only=True, errors=(NotFound,), example=ONE, absent=FOR_ADMINISTRATORS
)
async def get_source(mnemon: Parts, caller: Caller, asked: inputs.FollowedSource) -> outputs.FollowedPlace:
    """One source: where it is, what is wanted of it, how many files are in which state, and the last look."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        return await shown(tx, await source_by_name(tx, asked.source))


@operation(
    "sources.add", Action.MANAGE_SOURCES, errors=(PlaceRefused, Conflict, NotAllowed, InvalidRequest),
    example={"location": "s3://acme-docs/policies/", "name": "policies", "every_minutes": 60},
    absent=FOR_ADMINISTRATORS,
)  # fmt: skip
async def add(mnemon: Parts, caller: Caller, asked: inputs.NewSource) -> outputs.FollowedPlace:
    """Follow a bucket or a folder: its files become documents, and stay as they are there.

    The first look begins at once. Another content of a file is another version of its document; a file that is gone is
    no longer served, and nothing of it is deleted.
    """
    source_id = new_uuid()
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        slug = (await own_tenant(tx, caller.tenant_id)).slug if caller.principal else None
    row = await asyncio.to_thread(_row, mnemon.settings, caller, asked, slug)
    row |= {"source_id": source_id, "created_by": caller.actor.id, "sealed_keys": None}
    async with mnemon.log.transaction(caller.tenant_id) as transaction:
        tx = transaction.connection
        if keys := _keys(asked):
            row["sealed_keys"] = await seal_keys(mnemon.privacy.keys, tx, caller.tenant_id, source_id, keys)
        await add_source(tx, row)
        await begin_sync(tx, source_id, caller.actor.id)
        await _tell(transaction, happened.ADDED, caller, row)
        return await shown(tx, await source_by_name(tx, asked.name))


@operation(
    "sources.change", Action.MANAGE_SOURCES, errors=(NotFound, InvalidRequest), absent=FOR_ADMINISTRATORS,
    example={**ONE, "exclude": ["drafts/**"], "every_minutes": 15},
)  # fmt: skip
async def change(mnemon: Parts, caller: Caller, asked: inputs.SourceChanges) -> outputs.FollowedPlace:
    """Change what is wanted of a source, when it is looked at, or its keys. What is left out stays as it is."""
    async with mnemon.log.transaction(caller.tenant_id) as transaction:
        tx = transaction.connection
        row = await source_by_name(tx, asked.source)
        told = asked.model_dump(exclude_none=True, include={"include", "exclude", "tags", "every_minutes", "paused"})
        row |= told
        if keys := _keys(asked):
            _refuse_keys(row["kind"])
            sealed = await seal_keys(mnemon.privacy.keys, tx, caller.tenant_id, row["source_id"], keys)
            row |= {"sealed_keys": sealed, "access": "keys"}
        await tx.execute(CHANGE, row)
        await _tell(transaction, happened.CHANGED, caller, row)
        return await shown(tx, await source_by_name(tx, asked.source))


@operation(
    "sources.remove", Action.MANAGE_SOURCES, destructive=True, errors=(NotFound,), example=ONE,
    absent=FOR_ADMINISTRATORS,
)  # fmt: skip
async def remove(mnemon: Parts, caller: Caller, asked: inputs.FollowedSource) -> outputs.FollowedPlaceRemoved:
    """Follow a source no more. Its documents stay as they are; its keys are gone."""
    async with mnemon.log.transaction(caller.tenant_id) as transaction:
        tx = transaction.connection
        row = await source_by_name(tx, asked.source)
        await tx.execute(REMOVE, (row["source_id"],))
        event = happened.about_source(happened.REMOVED, row["source_id"], caller.actor, kind=row["kind"])
        await transaction.append([event])
    return outputs.FollowedPlaceRemoved(name=asked.source, removed=True)


@operation("sources.sync", Action.TRIGGER_SYNC, errors=(NotFound,), example=ONE, absent=FOR_ADMINISTRATORS)
async def sync_now(mnemon: Parts, caller: Caller, asked: inputs.LookAsked) -> outputs.SyncBegun:
    """Look at a source now. While a look is under way nobody begins another: the answer names it."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        row = await source_by_name(tx, asked.source)
        sync_id, begun = await begin_sync(tx, row["source_id"], caller.actor.id, emptied=asked.emptied)
    return outputs.SyncBegun(sync_id=sync_id, source=asked.source, begun=begun)


@operation(
    "sources.syncs", Action.MANAGE_SOURCES, read_only=True, errors=(NotFound,), example={**ONE, "limit": 5},
    absent=FOR_ADMINISTRATORS,
)  # fmt: skip
async def syncs(mnemon: Parts, caller: Caller, asked: inputs.SyncsAsked) -> outputs.SyncList:
    """Looks at a source, newest first: how far each is, and what it found."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        row = await source_by_name(tx, asked.source)
        return outputs.SyncList(items=await syncs_of(tx, row["source_id"], asked.limit))


@operation(
    "sources.objects", Action.MANAGE_SOURCES, read_only=True, errors=(NotFound,), absent=FOR_ADMINISTRATORS,
    example={**ONE, "status": "failed"},
)  # fmt: skip
async def objects(mnemon: Parts, caller: Caller, asked: inputs.SourceObjectsAsked) -> outputs.SourceObjectPage:
    """Files of a source with their state, and what went wrong with them."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        row = await source_by_name(tx, asked.source)
        values = {
            "source": row["source_id"], "after": from_cursor(asked.cursor) or "", "status": asked.status,
            "limit": asked.limit + 1,
        }  # fmt: skip
        found = await (await tx.execute(OBJECTS, values)).fetchall()
    items = [outputs.SourceObjectShown(**one) for one in found]
    return outputs.SourceObjectPage(**page_of(items, asked.limit, lambda one: one.key))


async def _tell(transaction: LogTransaction, happening: EventType, caller: Caller, row: dict[str, Any]) -> None:
    """Last, as the event tells the digest of the row that is there by now."""
    sealed = await row_seal(transaction.connection, SEAL, row["source_id"])
    event = happened.about_source(
        happening, row["source_id"], caller.actor, kind=row["kind"], name=row["name"], place=location_of(row),
        seal=sealed,
    )  # fmt: skip
    await transaction.append([event])


def _row(settings: Settings, caller: Caller, asked: inputs.NewSource, slug: str | None) -> dict[str, Any]:
    """Where it is, in plain form; or why it cannot be there."""
    terms = {
        "name": asked.name, "include": asked.include or [], "exclude": asked.exclude or [], "tags": asked.tags or [],
        "every_minutes": asked.every_minutes, "endpoint": asked.endpoint, "region": asked.region, "prefix": "",
    }  # fmt: skip
    keys = _keys(asked)
    if "://" not in asked.location:
        if keys or asked.server_keys:
            _refuse_keys("folder")
        folder = allowed_folder(asked.location, opened_folders(settings, slug))
        return terms | {"kind": "folder", "place": str(folder), "access": "none"}
    if urlsplit(asked.location).scheme != "s3" or "?" in asked.location or not urlsplit(asked.location).netloc:
        raise PlaceRefused(
            f"{asked.location} is neither s3://bucket/prefix nor a folder of this machine: the store's address is told "
            "as endpoint.",
        )
    _check_store(settings, caller, asked)
    bucket, _, prefix = asked.location.removeprefix("s3://").partition("/")
    access = "keys" if keys else "server" if asked.server_keys else "none"
    return terms | {"kind": "s3", "place": bucket, "prefix": prefix, "access": access}


def _check_store(settings: Settings, caller: Caller, asked: inputs.NewSource) -> None:
    """Whoever runs the server may name any; others only what the settings open, or Amazon's own."""
    if caller.principal is None:
        return
    if asked.server_keys:
        raise NotAllowed("With the keys of the server a bucket is read only if `mnemon sources add` says so there.")
    opened = {one.rstrip("/") for one in settings.source_s3_endpoints}
    if asked.endpoint is not None and asked.endpoint.rstrip("/") not in opened:
        raise PlaceRefused(
            f"{asked.endpoint} is no store that MNEMON_SOURCE_S3_ENDPOINTS opens to sources.", endpoint=asked.endpoint
        )


def _keys(asked: inputs.SourceTerms) -> BucketKeys | None:
    if (asked.access_key is None) != (asked.secret_key is None):
        raise InvalidRequest("access_key and secret_key go together: give both, or none.", field="secret_key")
    if asked.access_key is None or asked.secret_key is None:
        return None
    return BucketKeys("keys", asked.access_key, asked.secret_key)


def _refuse_keys(kind: str) -> None:
    if kind == "folder":
        raise InvalidRequest("A folder has no keys: leave access_key and secret_key out.", field="access_key")
