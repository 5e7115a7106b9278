"""Packs: the bytes of archives as they were read, kept outside the database. Only a purge changes one.

blobs/<tenant>/packs/<archive id> holds what an archive held, unpacked; of a folder, its files one after another, with
their ranges in a file beside it. Where an archive could not be unpacked to its end, a file beside it says why. A purged
message's bytes are overwritten where they stand. Where files are in a bucket (`Files.share`), what is here is a copy.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

from mnemon.documents.intake.files import PACKS, Files
from mnemon.errors import NotFound
from mnemon.ids import new_uuid
from mnemon.keyfile import sync_folder
from mnemon.mail.archives.folders import MailFile, read_mail_file
from mnemon.mail.archives.mbox import split_archive
from mnemon.mail.archives.opening import ArchiveStream
from mnemon.mail.archives.ranges import ArchiveDefect, ArchivedMessage, ArchiveRange
from mnemon.mail.message.ids import archive_id

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class KeptArchive:
    """What was kept: the archive's id and hash tell its content, `start` where in the source's file it begins."""

    archive_id: str
    file_hash: str
    size: int
    kept: int
    format: str
    start: int = 0
    # Whether its bytes were here already: these are as they were left, and not as they came now.
    was_here: bool = False


@dataclass(frozen=True)
class Packs:
    """The packs of a Mnemon. Its methods touch the disk: call them in a thread. What is kept is for the audience."""

    files: Files
    audience: str = ""

    def path(self, tenant: UUID, archive: str) -> Path:
        return self.files.blobs / str(tenant) / PACKS / archive

    def keep_file(self, tenant: UUID, source: Path, start: int = 0) -> KeptArchive:
        """Keep an archive's bytes from `start` on, unpacked; the hash is that of the file as it came."""
        kept = skipped = 0
        file_hash = _hash_of(source)
        with self._writing(tenant) as (part, writing), ArchiveStream(source) as stream:
            while skipped < start and (block := stream.read(min(BLOCK, start - skipped))):
                skipped += len(block)
            opening = b""
            while block := stream.read(BLOCK):
                opening = opening or block[:4096]
                writing.write(block)
                kept += len(block)
        kind = _format_of(opening, stream.is_packed)
        archive = archive_id(file_hash, self.audience)
        if stream.damage:
            self._write_beside(tenant, self._damage(tenant, archive), stream.damage)
        was_here = self._name(tenant, part, archive)
        return KeptArchive(archive, file_hash, source.stat().st_size, kept, kind, skipped, was_here)

    def keep_mails(self, tenant: UUID, mails: Iterator[ArchiveRange], kind: str) -> KeptArchive | None:
        """Keep single mails one after another; nothing where there are none."""
        ranges: list[str] = []
        digest, at = hashlib.sha256(), 0
        with self._writing(tenant) as (part, writing):
            for one in mails:
                content = one.content if isinstance(one, ArchivedMessage) else b""
                reason = "" if isinstance(one, ArchivedMessage) else one.reason
                ranges.append(f"{at} {len(content)} {reason}")
                digest.update(hashlib.sha256(content).digest())
                writing.write(content)
                at += len(content)
        if not ranges:
            part.unlink()
            return None
        archive = archive_id(digest.hexdigest(), self.audience)
        self._write_beside(tenant, self._index(tenant, archive), "\n".join(ranges))
        was_here = self._name(tenant, part, archive)
        return KeptArchive(archive, digest.hexdigest(), at, at, kind, was_here=was_here)

    def ranges(self, tenant: UUID, archive: str, position: int = 0, start: int = 0) -> Iterator[ArchiveRange]:
        """What stands in a pack from a position on. Offsets count from the beginning of the archive's file."""
        pack, index = self._found(tenant, archive), self.files.shared(self._index(tenant, archive))
        with pack.open("rb") as file:
            if index.exists():
                yield from _indexed(file.fileno(), index, position)
                return
            file.seek(position - start)
            yield from split_archive(file, position)
        damage = self.files.shared(self._damage(tenant, archive))
        if damage.exists():
            yield ArchiveDefect(start + pack.stat().st_size, 0, damage.read_text(encoding="utf-8"))

    def read(self, tenant: UUID, archive: str, offset: int, length: int) -> bytes:
        """Bytes of a pack, counted from where the pack begins."""
        with self._found(tenant, archive).open("rb") as file:
            file.seek(offset)
            return file.read(length)

    def blank(self, tenant: UUID, archive: str, ranges: Sequence[tuple[int, int]]) -> None:
        """Overwrite these bytes for good. Safe to repeat; neighbours keep their places. The caller sees to it that an
        archive is blanked by one at a time."""
        pack = self.files.shared(self.path(tenant, archive))
        if not pack.exists():
            return
        with pack.open("r+b") as file:
            for offset, length in ranges:
                file.seek(offset)
                file.write(b" " * max(length - 1, 0) + b"\n" * min(length, 1))
            _settle(file)
        self.files.share(pack)

    def discard(self, tenant: UUID, archive: str) -> None:
        self.files.discard_shared(self.path(tenant, archive))
        self.files.discard_shared(self._index(tenant, archive))
        self.files.discard_shared(self._damage(tenant, archive))

    def _found(self, tenant: UUID, archive: str) -> Path:
        pack = self.files.shared(self.path(tenant, archive))
        if not pack.exists():
            raise NotFound(f"The bytes of archive {archive} are gone: import it again.", archive_id=archive)
        return pack

    def _index(self, tenant: UUID, archive: str) -> Path:
        return self.path(tenant, archive).with_suffix(".ranges")

    def _damage(self, tenant: UUID, archive: str) -> Path:
        return self.path(tenant, archive).with_suffix(".damage")

    def _write_beside(self, tenant: UUID, path: Path, words: str) -> None:
        part = self._part(tenant)
        part.write_text(words, encoding="utf-8")
        part.replace(path)
        self.files.share(path)

    @contextmanager
    def _writing(self, tenant: UUID) -> Iterator[tuple[Path, BinaryIO]]:
        """A file without a name yet; where its source breaks off, nothing of it stays."""
        part = self._part(tenant)
        try:
            with part.open("xb") as writing:
                yield part, writing
                _settle(writing)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    def _part(self, tenant: UUID) -> Path:
        folder = self.path(tenant, "x").parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder / f".{new_uuid().hex}"

    def _name(self, tenant: UUID, part: Path, archive: str) -> bool:
        """It has its name only once it is complete. One that is here stays: what was purged from it would come back,
        and its rows tell places in what it holds."""
        named = self.path(tenant, archive)
        if self.files.shared(named).exists():
            part.unlink()
            return True
        part.replace(named)
        sync_folder(part.parent)
        self.files.share(named)
        return False


def ranges_of_files(files: Sequence[MailFile]) -> Iterator[ArchiveRange]:
    at = 0
    for file in files:
        found = read_mail_file(file, at)
        at += found.length
        yield found


def _indexed(descriptor: int, index: Path, position: int) -> Iterator[ArchiveRange]:
    for line in index.read_text(encoding="utf-8").split("\n"):
        offset, length, reason = line.split(" ", 2)
        if int(offset) < position:
            continue
        content = os.pread(descriptor, int(length), int(offset))
        if reason or not content.strip():
            yield ArchiveDefect(int(offset), int(length), reason or "blank")
        else:
            yield ArchivedMessage(int(offset), int(length), content)


def _settle(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _hash_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _format_of(opening: bytes, packed: bool) -> str:
    if opening.startswith(b"From mboxrd@z "):
        kind = "mboxrd"
    elif opening.startswith(b"From "):
        kind = "pipermail" if b" at " in opening.partition(b"\n")[0] else "mbox"
    elif opening.startswith(b"\x01\x01\x01\x01"):
        kind = "mmdf"
    else:
        kind = "eml"
    return f"{kind}.gz" if packed else kind
