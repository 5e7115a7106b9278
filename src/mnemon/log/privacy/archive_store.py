"""Archive stores: objects put once under a key, durable when `put` returns. A directory here; S3 has the same shape."""

import asyncio
import os
import re
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

from mnemon.buckets import BucketAddress, ObjectBucket
from mnemon.errors import InvalidRequest
from mnemon.keyfile import sync_folder
from mnemon.log.errors import ArchiveDamaged
from mnemon.log.privacy.bucket_archive import BucketArchive
from mnemon.settings import Settings

KEY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")


class ArchiveStore(Protocol):
    """Where archived payloads are."""

    async def put(self, key: str, content: bytes) -> None: ...

    async def get(self, key: str) -> bytes: ...

    async def delete(self, key: str) -> None:
        """Gone when this returns, also if it was not there."""
        ...

    def keys(self) -> AsyncIterator[str]: ...


class DirectoryStore:
    """A file per object. A file is complete before it has its name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def put(self, key: str, content: bytes) -> None:
        await asyncio.to_thread(self._put, self._file(key), content)

    async def get(self, key: str) -> bytes:
        try:
            return await asyncio.to_thread(self._file(key).read_bytes)
        except FileNotFoundError:
            raise ArchiveDamaged(
                f"The archive holds no {key}: put the folder {self.folder} back as it was.", object_key=key
            ) from None

    async def delete(self, key: str) -> None:
        await asyncio.to_thread(self._delete, self._file(key))

    async def keys(self) -> AsyncIterator[str]:
        for file in await asyncio.to_thread(lambda: sorted(self.folder.rglob("*"))):
            if file.is_file():
                yield file.relative_to(self.folder).as_posix()

    def _file(self, key: str) -> Path:
        if not KEY.fullmatch(key):
            raise InvalidRequest(f"{key!r} is not the key of an archived object.", object_key=key)
        return self.folder / key

    def _put(self, file: Path, content: bytes) -> None:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as output:
                output.write(content)
                output.flush()
                os.fsync(output.fileno())
            draft.replace(file)
        finally:
            draft.unlink(missing_ok=True)
        for folder in (file.parent, *file.parent.parents):
            sync_folder(folder)
            if folder == self.folder:
                break

    def _delete(self, file: Path) -> None:
        # Drafts that a killed process left behind go with it.
        for left in (file, *file.parent.glob(f".{file.name}.*")):
            left.unlink(missing_ok=True)
        if file.parent.exists():
            sync_folder(file.parent)


def archive_store_for(settings: Settings) -> ArchiveStore:
    if settings.archive_store is not None:
        return BucketArchive(ObjectBucket(BucketAddress.parse(settings.archive_store, "MNEMON_ARCHIVE_STORE")))
    return DirectoryStore(archive_folder(settings))


def archive_folder(settings: Settings) -> Path:
    """Where archived payloads are, unless the settings name a bucket."""
    return settings.archive_folder or settings.home / "archive"
