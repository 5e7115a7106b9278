"""The file of a backup: the dump, the kept files and the manifest in one archive."""

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

import orjson

from mnemon.db.kept_files import Kept
from mnemon.errors import BackupFailed

FORMAT = 2
MANIFEST = "manifest.json"
DUMP = "database.dump"
BLOCK = 1 << 20


@dataclass(frozen=True)
class Manifest:
    """What a backup holds."""

    format: int
    program: str
    server_major: int
    step: int
    taken_at: str
    dump_sha256: str
    tables: dict[str, str]
    files: int
    files_size: int
    files_sha256: str

    @property
    def kept(self) -> Kept:
        return Kept(self.files, self.files_size, self.files_sha256)


def read_manifest(file: Path) -> Manifest:
    try:
        with tarfile.open(file) as archive, _member(archive, MANIFEST) as stream:
            manifest = Manifest(**orjson.loads(stream.read()))
    except FileNotFoundError:
        raise BackupFailed(f"There is no file {file}.", file=str(file)) from None
    except (tarfile.TarError, KeyError, TypeError, ValueError, OSError) as failure:
        raise BackupFailed(f"{file} is not a backup made by `mnemon db backup`: {failure}", file=str(file)) from None
    if manifest.format != FORMAT:
        raise BackupFailed(f"{file} has format {manifest.format}; this program reads {FORMAT}.", file=str(file))
    return manifest


@contextmanager
def new_archive(draft: Path) -> Iterator[tarfile.TarFile]:
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as output:
        with tarfile.open(fileobj=output, mode="w") as archive:
            yield archive
        output.flush()
        os.fsync(output.fileno())


def pack_manifest(archive: tarfile.TarFile, manifest: Manifest) -> None:
    """Last, since it tells what stands before it."""
    text = orjson.dumps(asdict(manifest), option=orjson.OPT_INDENT_2)
    member = tarfile.TarInfo(MANIFEST)
    member.size = len(text)
    archive.addfile(member, io.BytesIO(text))


def publish(draft: Path, file: Path) -> None:
    try:
        # A link never replaces a file that has come there meanwhile.
        os.link(draft, file)
    except FileExistsError:
        raise
    except OSError:
        draft.rename(file)  # A disk without hard links.


def unpack_dump(file: Path, manifest: Manifest, dump: Path) -> None:
    dump.touch(mode=0o600)
    with tarfile.open(file) as archive, _member(archive, DUMP) as stream, dump.open("wb") as output:
        while block := stream.read(BLOCK):
            output.write(block)
    if sha256(dump) != manifest.dump_sha256:
        raise BackupFailed(f"{file} is damaged: its contents do not match its manifest.", file=str(file))


def sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    stream = archive.extractfile(name)
    if stream is None:
        raise KeyError(f"{name} is missing")
    return stream
