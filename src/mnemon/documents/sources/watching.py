"""Folders that a setting names: each is a source, looked at as soon as something has changed there."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from mnemon.documents.sources import operations
from mnemon.documents.sources.filters import KeyFilter
from mnemon.documents.sources.folder_place import FolderPlace, allowed_folder, named_folders
from mnemon.documents.sources.inputs import NewSource
from mnemon.documents.sources.syncing import begin_sync
from mnemon.errors import Conflict
from mnemon.identity.tenants import tenant_by_slug
from mnemon.log.events import SYSTEM
from mnemon.operations import Caller
from mnemon.tasks import end
from mnemon.telemetry import logger

LOOK_SECONDS = 2.0
# A tree that takes long to walk is walked less often: it may cost a twentieth of a core.
REST = 20
# A file that is still being written is waited for, but not for ever.
LONGEST_UNREST = 30.0
# Sources of that name that are somewhere else.
MOST_NAMES = 100
OF_PLACE = """
SELECT source_id, include, exclude, paused FROM mnemon.document_sources
 WHERE tenant_id = mnemon.current_tenant() AND kind = 'folder' AND place = %s AND prefix = ''
 ORDER BY created_at LIMIT 1
"""

log = logger(__name__)


@asynccontextmanager
async def watching(mnemon: operations.Parts, look_seconds: float = LOOK_SECONDS) -> AsyncIterator[None]:
    """Beside the server, for as long as it is up."""
    tasks = [
        asyncio.create_task(FolderWatch(mnemon, slug, folder).run(look_seconds))
        for slug, folder in named_folders(mnemon.settings.watch_folders)
    ]
    try:
        yield
    finally:
        for task in tasks:
            await end(task)


class FolderWatch:
    """One folder of one tenant. Its first look is at once: files may have changed while nobody watched."""

    def __init__(self, mnemon: operations.Parts, slug: str, folder: Path) -> None:
        self._mnemon = mnemon
        self._slug = slug
        self._folder = folder
        self._tenant: UUID | None = None
        self._before: str | None = None
        self._taken: str | None = None
        self._unrest_since: float | None = None
        self._told: str | None = None

    async def run(self, look_seconds: float) -> None:
        while True:
            began = time.monotonic()
            try:
                await self._look()
            except Exception as failure:
                # The folder, the tenant or the database is not there now, and may be later.
                if self._told != str(failure):
                    log.warning("folder_not_watched", folder=str(self._folder), error=str(failure))
                self._told = str(failure)
            else:
                self._told = None
            await asyncio.sleep(max(look_seconds, REST * (time.monotonic() - began)))

    async def _look(self) -> None:
        folder = await asyncio.to_thread(allowed_folder, str(self._folder), [self._folder])
        source = await self._source(folder)
        wanted = KeyFilter(source["include"], source["exclude"])
        state = await asyncio.to_thread(state_of, folder, wanted)
        if not source["paused"] and self._is_ready(state) and await self._begin(source["source_id"]):
            self._taken = state
        self._before = state

    def _is_ready(self, state: str) -> bool:
        """Something changed, and now it stands still; or it has not stood still for long enough."""
        if state == self._taken:
            self._unrest_since = None
            return False
        now = time.monotonic()
        self._unrest_since = self._unrest_since or now
        return state == self._before or self._taken is None or now - self._unrest_since > LONGEST_UNREST

    async def _begin(self, source_id: UUID) -> bool:
        """False while a look is under way: it may have passed what changed just now."""
        async with self._mnemon.database.transaction(await self._tenant_id()) as tx:
            _, begun = await begin_sync(tx, source_id, SYSTEM.id)
        if begun:
            self._unrest_since = None
        return begun

    async def _source(self, folder: Path) -> dict[str, Any]:
        """The source of the folder, added if there is none. Another gateway may do the same at the same time."""
        tenant = await self._tenant_id()
        for number in range(1, MOST_NAMES):
            async with self._mnemon.database.transaction(tenant) as tx:
                row = await (await tx.execute(OF_PLACE, (str(folder),))).fetchone()
            if row is not None:
                return row
            name = folder.name.strip() or "folder"
            asked = NewSource(location=str(folder), name=name if number == 1 else f"{name} {number}")
            try:
                await operations.add(self._mnemon, Caller(tenant, SYSTEM), asked)
            except Conflict:
                continue
        raise Conflict(f"There are too many sources called {folder.name}.")

    async def _tenant_id(self) -> UUID:
        if self._tenant is None:
            self._tenant = (await tenant_by_slug(self._mnemon.database, self._slug)).tenant_id
        return self._tenant


def state_of(folder: Path, wanted: KeyFilter) -> str:
    """A digest of the names, times and sizes of all files that are wanted."""
    digest = hashlib.sha256()
    for page in FolderPlace(folder).pages(""):
        for one in page:
            if wanted.wants(one.key):
                digest.update(f"{one.key}\0{one.mark}\n".encode())
    return digest.hexdigest()
