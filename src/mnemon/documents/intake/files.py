"""Files on disk: uploads, which wait for their run, and blobs, which are kept under the hash of their content.

uploads/<tenant>/<run>/file.<ext> is written once and gone when its run has succeeded.
blobs/<tenant>/<ab>/<sha256> has its name only once it is complete, and never changes.
No name of a person's own choosing becomes part of a path.
"""

import contextlib
import errno
import hashlib
import os
import re
import shutil
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Self
from uuid import UUID

from mnemon.documents.errors import FileChanged, FileGone, UploadTooLarge
from mnemon.ids import new_uuid
from mnemon.keyfile import sync_folder
from mnemon.settings import Settings

# Of mails: the folder of a tenant that has them.
PACKS = "packs"
HASH = re.compile(r"sha256:([0-9a-f]{64})")
EXTENSION = re.compile(r"\.[a-z0-9]{1,10}")
LONGEST_NAME = 255
BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Received:
    """A complete upload, durable on disk, with what was learnt while it was written."""

    run_id: UUID
    path: Path
    filename: str
    size: int
    content_hash: str


class Incoming:
    """A file on its way in: counted and hashed while it is written, refused as soon as it is too large."""

    def __init__(self, path: Path, run_id: UUID, filename: str, limit: int) -> None:
        self.filename = filename
        self._path = path
        self._run_id = run_id
        self._limit = limit
        self._size = 0
        self._hash = hashlib.sha256()
        path.parent.mkdir(mode=0o700, parents=True)
        self._file: BinaryIO = path.open("xb")

    def write(self, block: bytes) -> None:
        self._size += len(block)
        if self._size > self._limit:
            raise UploadTooLarge(
                f"{self.filename!r} is over the limit of {self._limit >> 20} MB: split it, or raise "
                "MNEMON_UPLOAD_MAX_SIZE_MB.",
                filename=self.filename,
                most_bytes=self._limit,
            )
        self._hash.update(block)
        self._file.write(block)

    def complete(self, last: bytes = b"") -> Received:
        """With its last block on disk for good, or not at all."""
        self.write(last)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        sync_folder(self._path.parent)
        sync_folder(self._path.parent.parent)
        digest = f"sha256:{self._hash.hexdigest()}"
        return Received(self._run_id, self._path, self.filename, self._size, digest)

    def abandon(self) -> None:
        # On a full disk what is left to write fails once more; the file is closed all the same.
        with contextlib.suppress(OSError):
            self._file.close()
        shutil.rmtree(self._path.parent, ignore_errors=True)


@dataclass(frozen=True)
class Files:
    """Where uploads and blobs are. Its methods touch the disk: call them in a thread."""

    uploads: Path
    blobs: Path
    largest: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            settings.upload_store_path or settings.home / "uploads",
            settings.home / "blobs",
            settings.upload_max_size_mb << 20,
        )

    @property
    def folders(self) -> dict[str, Path]:
        """What a backup holds, in the order that files move in: an upload becomes a blob before it is removed."""
        return {"uploads": self.uploads, "blobs": self.blobs}

    def receive(self, tenant: UUID, filename: str) -> Incoming:
        """Begin an upload, under the id that its run will have."""
        run_id = new_uuid()
        name = plain_name(filename)
        extension = Path(name).suffix.lower()
        file = f"file{extension}" if EXTENSION.fullmatch(extension) else "file"
        return self.incoming(tenant, self.upload_folder(tenant, run_id) / file, run_id, name)

    def incoming(self, tenant: UUID, path: Path, run_id: UUID, name: str) -> Incoming:
        return Incoming(path, run_id, name, self.largest)

    def take_copy(self, tenant: UUID, source: Path) -> Received:
        """Receive a file of this machine."""
        incoming = self.receive(tenant, source.name)
        try:
            with source.open("rb") as file:
                while block := file.read(BLOCK):
                    incoming.write(block)
            return incoming.complete()
        except BaseException:
            incoming.abandon()
            raise

    def upload_folder(self, tenant: UUID, run_id: UUID) -> Path:
        return self.uploads / str(tenant) / str(run_id)

    def upload(self, tenant: UUID, run_id: UUID) -> Path | None:
        """The file of a run, if it is still there."""
        folder = self.upload_folder(tenant, run_id)
        return next(iter(sorted(folder.iterdir())), None) if folder.is_dir() else None

    def discard_upload(self, tenant: UUID, run_id: UUID) -> None:
        shutil.rmtree(self.upload_folder(tenant, run_id), ignore_errors=True)

    def blob(self, tenant: UUID, content_hash: str) -> Path:
        match = HASH.fullmatch(content_hash)
        if match is None:
            raise FileGone("The document's file is gone: its content was purged.")
        return self.blobs / str(tenant) / match[1][:2] / match[1]

    def fetched_blob(self, tenant: UUID, content_hash: str) -> Path:
        """Where it is to be read; brought here first where files are kept elsewhere."""
        return self.blob(tenant, content_hash)

    def keep(self, tenant: UUID, upload: Path, content_hash: str) -> Path:
        """Make the upload a blob. Safe to repeat, and for many at once: the content is the same."""
        blob = self.blob(tenant, content_hash)
        if self.is_intact(blob):
            return blob
        # A file that is not what its name says was changed, by hand or by the disk: here is the real one.
        blob.unlink(missing_ok=True)
        blob.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            os.link(upload, blob)
        except FileExistsError:
            return blob
        except OSError as failure:
            if failure.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP):
                raise
            _copy(upload, blob)
        for folder in (blob.parent, blob.parent.parent, self.blobs):
            sync_folder(folder)
        return blob

    def intact_blob(self, tenant: UUID, content_hash: str, missing: str, **details: str) -> Path:
        """The blob to serve or read; one that is gone or was changed is refused, with these words for the former."""
        if content_hash.startswith("text:"):
            raise FileGone("It was filed as a text and has no file of its own: read its text, or its message.")
        blob = self.fetched_blob(tenant, content_hash)
        if not blob.exists():
            raise FileGone(missing, **details)
        if not self.is_intact(blob):
            raise FileChanged(
                f"The stored file {content_hash} was changed since it was taken in: upload it again, then run "
                "`mnemon verify`.",
                **details,
            )
        return blob

    def is_intact(self, blob: Path) -> bool:
        """Whether it is there and has the content that its name tells. Read again only if its inode changed."""
        try:
            state = blob.stat()
        except FileNotFoundError:
            return False
        return _hash_as_of(blob, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns) == blob.name

    def discard_blob(self, tenant: UUID, content_hash: str) -> None:
        blob = self.blob(tenant, content_hash)
        blob.unlink(missing_ok=True)
        if blob.parent.is_dir():
            sync_folder(blob.parent)

    def share(self, kept: Path) -> None:
        """Called when a file of its own below `blobs`, such as a pack of mails, is complete or was changed."""

    def shared(self, kept: Path) -> Path:
        """Where such a file can be read, as it was shared last; nowhere, if there is none."""
        return kept

    def discard_shared(self, kept: Path) -> None:
        kept.unlink(missing_ok=True)

    def tenants_with_copies(self) -> list[UUID]:
        """Whose files are here and may not be where all machines find them; nobody's, where this is that place."""
        return []

    def unshared_blobs(self, tenant: UUID) -> list[str]:
        """Blobs that this machine alone has, by their content."""
        return []

    def share_blob(self, tenant: UUID, content_hash: str) -> None:
        """Bring such a blob to where all machines find it."""

    def share_packs(self, tenant: UUID) -> None:
        """The same with files that were never shared, such as packs of mails."""

    def uploads_of_tenants(self) -> Iterator[tuple[UUID, UUID, float]]:
        """Every upload folder there is: tenant, run, and when it was last written to."""
        for folder in sorted(self.uploads.glob("*/*")) if self.uploads.is_dir() else ():
            if (
                (tenant := uuid_or_none(folder.parent.name))
                and (run_id := uuid_or_none(folder.name))
                and folder.is_dir()
            ):
                yield tenant, run_id, max(one.stat().st_mtime for one in (folder, *folder.iterdir()))

    def blobs_of_tenants(self) -> Iterator[tuple[UUID, str, float]]:
        for folder in sorted(self.blobs.iterdir()) if self.blobs.is_dir() else ():
            if tenant := uuid_or_none(folder.name):
                yield from self.blobs_of(tenant)

    def blobs_of(self, tenant: UUID) -> Iterator[tuple[UUID, str, float]]:
        """Every blob of a tenant: its content hash, and when it was written."""
        for blob in sorted((self.blobs / str(tenant)).glob("??/*")):
            if HASH.fullmatch(f"sha256:{blob.name}"):
                yield tenant, f"sha256:{blob.name}", blob.stat().st_ctime

    def discard_parts(self, before: float, spared: Collection[UUID] = ()) -> None:
        """Remove copies that a crash left unfinished; and copies of what is elsewhere, but of these tenants."""
        parts = (part for place in ("??/.*", f"{PACKS}/.{'[0-9a-f]' * 32}") for part in self.blobs.glob(f"*/{place}"))
        for part in parts if self.blobs.is_dir() else ():
            if part.stat().st_ctime < before:
                part.unlink(missing_ok=True)


@lru_cache(maxsize=10_000)
def _hash_as_of(blob: Path, inode: int, size: int, modified: int, changed: int) -> str:
    """Nobody sets the time at which an inode was changed, so that a file with the same one is the same."""
    digest = hashlib.sha256()
    try:
        with blob.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    except FileNotFoundError:
        return ""
    return digest.hexdigest()


def plain_name(filename: str) -> str:
    """The last part of a name, as people read it: no folders, no control characters, not endless."""
    last = re.split(r"[/\\]", filename)[-1]
    # Wide and narrow spaces are spaces too, though none of them counts as printable.
    plain = (" " if unicodedata.category(one) == "Zs" else one for one in unicodedata.normalize("NFC", last))
    shown = "".join(letter for letter in plain if letter.isprintable()).strip()
    if len(shown) > LONGEST_NAME:
        extension = Path(shown).suffix[-20:]
        shown = shown[: LONGEST_NAME - len(extension)] + extension
    return shown if shown.strip(".") else "unnamed"


def _copy(source: Path, target: Path) -> None:
    """Between file systems: complete under a name of its own, then renamed."""
    part = target.with_name(f".{target.name}.{new_uuid().hex}")
    with source.open("rb") as reading, part.open("xb") as writing:
        shutil.copyfileobj(reading, writing, BLOCK)
        writing.flush()
        os.fsync(writing.fileno())
    part.replace(target)


def uuid_or_none(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
