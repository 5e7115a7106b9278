"""The files that belong to a database's rows: packed into its backup, and put back, proven, before the rows are."""

import hashlib
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from mnemon.errors import BackupFailed
from mnemon.keyfile import sync_folder
from mnemon.telemetry import logger

log = logger(__name__)

# Their names in a backup and where they are. Files move from the earlier ones to the later ones, never back, so that
# reading them in this order misses none.
Folders = Mapping[str, Path]

INSIDE = "files/"
NAME = re.compile(r"files/([a-z]+)/((?:[A-Za-z0-9-][A-Za-z0-9.-]*/)*[A-Za-z0-9-][A-Za-z0-9.-]*)")
# A file that is named by its content shows when it was changed.
DIGEST = re.compile(r"[0-9a-f]{64}")
STAGING = ".restore-"
BLOCK = 1 << 20


@dataclass(frozen=True)
class Kept:
    """How many files there are, and a digest of their names and contents in the order of the backup."""

    files: int
    size: int
    sha256: str


class Tally:
    """Counts files and hashes their names and contents."""

    def __init__(self) -> None:
        self._files = self._size = 0
        self._listing = hashlib.sha256()

    def add(self, name: str, size: int, digest: str) -> None:
        self._files += 1
        self._size += size
        self._listing.update(f"{digest} {size} {name}\n".encode())

    @property
    def kept(self) -> Kept:
        return Kept(self._files, self._size, self._listing.hexdigest())


class _Hashing:
    """A file that is hashed while it is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self.hash.update(block)
        return block


def pack_files(archive: tarfile.TarFile, folders: Folders) -> Kept:
    """Add every file that is complete. One that vanishes meanwhile was moved on, or nobody needs it any more."""
    tally = Tally()
    for name, folder in folders.items():
        for path in _files_below(folder):
            inside = f"{INSIDE}{name}/{path.relative_to(folder).as_posix()}"
            if NAME.fullmatch(inside):
                _pack_file(archive, inside, path, tally)
    return tally.kept


def _pack_file(archive: tarfile.TarFile, inside: str, path: Path, tally: Tally) -> None:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        member = tarfile.TarInfo(inside)
        member.size = os.fstat(file.fileno()).st_size
        hashing = _Hashing(file)
        archive.addfile(member, hashing)
        digest = hashing.hash.hexdigest()
        if DIGEST.fullmatch(path.name) and path.name != digest:
            # Kept all the same: a backup that refuses every file for one would be none.
            log.warning("backup_file_was_changed", file=inside, sha256=digest, remedy="run `mnemon verify`")
        tally.add(inside, member.size, digest)


def _files_below(folder: Path) -> Iterator[Path]:
    """Plain files, in order; what begins with a dot is still being written."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield path


@contextmanager
def staged_files(archive: tarfile.TarFile, folders: Folders, kept: Kept) -> Iterator[Sequence[tuple[Path, Path]]]:
    """A backup's files beside the places they go to, compared with what was packed; with their places."""
    with ExitStack() as stack:
        stages = {name: _stage(folder, stack) for name, folder in folders.items()} if kept.files else {}
        tally, staged = Tally(), []
        for member in archive:
            if not member.name.startswith(INSIDE):
                continue
            name, inside = _place(member, stages)
            draft = stages[name] / inside
            tally.add(member.name, member.size, _unpack_file(archive, member, draft))
            staged.append((draft, folders[name] / inside))
        if tally.kept != kept:
            raise BackupFailed("The backup is damaged: its files do not match its manifest.")
        yield staged


def put_in_place(staged: Sequence[tuple[Path, Path]]) -> None:
    """Each at once and for good. A file that is there already has the same content: its name tells."""
    touched = set()
    for draft, place in staged:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.replace(place)
        touched |= {place.parent, place.parent.parent}
    for folder in sorted(touched):
        sync_folder(folder)


def _stage(folder: Path, stack: ExitStack) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in folder.glob(f"{STAGING}*"):
        shutil.rmtree(left, ignore_errors=True)  # By a restore that was killed.
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=STAGING, dir=folder)))


def _place(member: tarfile.TarInfo, stages: Mapping[str, Path]) -> tuple[str, str]:
    """Where a member goes. Whoever made the file, nothing is written outside the folders."""
    match = NAME.fullmatch(member.name)
    if match is None or not member.isreg() or match[1] not in stages:
        raise BackupFailed(f"The backup holds {member.name!r}, which has no place here.")
    return match[1], match[2]


def _unpack_file(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> str:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    stream = archive.extractfile(member)
    assert stream is not None
    hashing = _Hashing(stream)
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as output:
        while block := hashing.read(BLOCK):
            output.write(block)
        output.flush()
        os.fsync(output.fileno())
    return hashing.hash.hexdigest()
