"""The file of a backup: dump, rows, kept files and manifest in one archive, encrypted and signed from end to end."""

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

from mnemon.db.backup_keys import KEY_LENGTH, BackupKeys
from mnemon.db.encrypted_file import EncryptedReader, EncryptedWriter
from mnemon.db.kept_files import Kept
from mnemon.errors import BackupFailed

FORMAT = 3
# From before backups were encrypted; restored where the operator says so.
READABLE = (2, FORMAT)
FIRST_LINE = b"mnemon-backup 3\n"
SIGNED = b"mnemon/backup/signature/1\n"
SIGNATURE = 64
LONGEST_HEADER = 4096
MANIFEST = "manifest.json"
DUMP = "database.dump"
ROWS = "rows/"
BLOCK = 1 << 20


@dataclass(frozen=True)
class Manifest:
    """What a backup holds. `left_out` is what the log gives again; the statements `afterwards` see to that."""

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
    left_out: Sequence[str] = ()
    afterwards: Sequence[str] = ()
    # Tables of which some rows are kept, and the digest of those.
    in_part: Mapping[str, str] = field(default_factory=dict)

    @property
    def kept(self) -> Kept:
        return Kept(self.files, self.files_size, self.files_sha256)


class _Hashed:
    """An output that is hashed on its way."""

    def __init__(self, output: IO[bytes]) -> None:
        self._output = output
        self.hash = hashlib.sha256(SIGNED)

    def write(self, content: bytes) -> int:
        self.hash.update(content)
        return self._output.write(content)


class Spool:
    """A file on the way into a backup, that nobody else can read: its key is in this process's memory alone."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._key = os.urandom(KEY_LENGTH)
        self.size = 0
        self.sha256 = ""

    @contextmanager
    def writing(self) -> Iterator["SpoolWriter"]:
        with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as output:
            writer = SpoolWriter(EncryptedWriter(output, self._key))
            yield writer
            writer.encrypted.close()
        self.size, self.sha256 = writer.encrypted.tell(), writer.hash.hexdigest()

    def pack(self, archive: tarfile.TarFile, name: str) -> None:
        member = tarfile.TarInfo(name)
        member.size = self.size
        with self._path.open("rb") as source:
            archive.addfile(member, io.BufferedReader(EncryptedReader(source, self._key), BLOCK))
        self._path.unlink()


class SpoolWriter:
    def __init__(self, encrypted: EncryptedWriter) -> None:
        self.encrypted = encrypted
        self.hash = hashlib.sha256()

    def write(self, content: bytes) -> int:
        self.hash.update(content)
        return self.encrypted.write(content)


@contextmanager
def new_archive(draft: Path, keys: BackupKeys) -> Iterator[tarfile.TarFile]:
    """An archive whose bytes are encrypted as they are written, and signed at the end."""
    file_key = os.urandom(KEY_LENGTH)
    header = orjson.dumps(keys.enclose(file_key) | {"signer": keys.signer()}) + b"\n"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as output:
        hashed: Any = _Hashed(output)
        hashed.write(FIRST_LINE + header)
        encrypted: Any = EncryptedWriter(hashed, file_key, FIRST_LINE + header)
        with tarfile.open(fileobj=encrypted, mode="w") as archive:
            yield archive
        encrypted.close()
        output.write(keys.sign(hashed.hash.digest()))
        output.flush()
        os.fsync(output.fileno())


@contextmanager
def open_archive(file: Path, keys: BackupKeys, *, unsigned: bool = False) -> Iterator[tarfile.TarFile]:
    """A backup to read, once its signature is checked over every byte; `unsigned` takes it without one, or plain."""
    try:
        with file.open("rb") as source:
            plain = source.read(len(FIRST_LINE)) != FIRST_LINE
            if not unsigned:
                _check_signature(file, source, keys, plain)
            source.seek(0)
            content: IO[bytes] = source if plain else _decrypted(source, keys)
            with tarfile.open(fileobj=content, mode="r:") as archive:
                yield archive
    except FileNotFoundError:
        raise BackupFailed(f"There is no file {file}.", file=str(file)) from None
    except (tarfile.ReadError, EOFError) as failure:
        raise BackupFailed(f"{file} is not a backup made by `mnemon db backup`: {failure}", file=str(file)) from None


def _decrypted(source: IO[bytes], keys: BackupKeys) -> IO[bytes]:
    header, start = _header(source)
    end = source.seek(0, io.SEEK_END) - SIGNATURE
    reader = EncryptedReader(source, keys.disclose(header), FIRST_LINE + _line(source), start, end)
    return io.BufferedReader(reader, BLOCK)


def _line(source: IO[bytes]) -> bytes:
    source.seek(len(FIRST_LINE))
    return source.readline(LONGEST_HEADER)


def _header(source: IO[bytes]) -> tuple[dict[str, str], int]:
    line = _line(source)
    try:
        header: dict[str, str] = orjson.loads(line)
        for name in ("recipient", "once", "file_key", "signer"):
            bytes.fromhex(header[name])
    except (ValueError, KeyError, TypeError):
        raise BackupFailed("The backup is damaged: its first lines were changed.") from None
    return header, len(FIRST_LINE) + len(line)


def _check_signature(file: Path, source: IO[bytes], keys: BackupKeys, plain: bool) -> None:
    if plain:
        if not tarfile.is_tarfile(file):
            raise BackupFailed(f"{file} is not a backup made by `mnemon db backup`.", file=str(file))
        raise BackupFailed(
            f"{file} is neither encrypted nor signed: anyone could have made or changed it. If you trust where it "
            "comes from, as with a backup of an earlier version of Mnemon, give --unsigned.",
            file=str(file),
        )
    header, _ = _header(source)
    left = source.seek(0, io.SEEK_END) - SIGNATURE
    source.seek(0)
    seen = hashlib.sha256(SIGNED)
    while left > 0 and (block := source.read(min(BLOCK, left))):
        seen.update(block)
        left -= len(block)
    if not keys.is_ours(header["signer"], source.read(SIGNATURE), seen.digest()):
        raise BackupFailed(
            f"{file} is damaged, cut short, changed, or signed by another home than the one whose keys are in "
            f"{keys.where}: nothing was restored. --unsigned tries without the signature.",
            file=str(file),
        )


def read_manifest(archive: tarfile.TarFile) -> Manifest:
    file = str(archive.name or "The file")
    try:
        with member_of(archive, MANIFEST) as stream:
            manifest = Manifest(**orjson.loads(stream.read()))
    except (tarfile.TarError, KeyError, TypeError, ValueError, OSError) as failure:
        raise BackupFailed(f"{file} is not a backup made by `mnemon db backup`: {failure}", file=file) from None
    if manifest.format not in READABLE:
        raise BackupFailed(f"{file} has format {manifest.format}; this program reads {FORMAT}.", file=file)
    return manifest


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


def member_of(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    stream = archive.extractfile(name)
    if stream is None:
        raise KeyError(f"{name} is missing")
    return stream
