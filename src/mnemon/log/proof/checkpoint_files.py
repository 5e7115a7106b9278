"""The files that checkpoints are kept in, outside the database: one that only grows per partition, and its seal."""

import asyncio
import fcntl
import hashlib
import os
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from uuid import UUID

import orjson

from mnemon.keyfile import sync_folder
from mnemon.log.events import MAIN
from mnemon.log.proof.checkpoint import Checkpoint, NewestSigned, read_checkpoint

FOLDER = "checkpoints"
# Where a restore puts those of the backup, until it has looked which of them are needed. Those of another history than
# the home has signed stay there for whoever adopts it.
RESTORED = f"{FOLDER}-restored"
LINES, SEAL = ".jsonl", ".seal"
ASIDE = "set-aside"
# A line has at most 64 roots and the handovers of the home; what is read from the end grows until a line is whole.
TAIL = 16_384


class CheckpointFiles:
    """Reads and writes them. A damaged line raises ValueError; a line cut short by a crash is no checkpoint."""

    def __init__(self, home: Path, folder: str = FOLDER) -> None:
        self._folder = home / folder

    def file_of(self, tenant: UUID, legal_entity: str) -> Path:
        name = hashlib.sha256(legal_entity.encode()).hexdigest()[:16]
        return self._folder / str(tenant) / f"{name}{LINES}"

    def seal_of(self, tenant: UUID, legal_entity: str) -> Path:
        return self.file_of(tenant, legal_entity).with_suffix(SEAL)

    def list(self, tenant: UUID, legal_entity: str = MAIN) -> list[Checkpoint]:
        """All that are kept for good, the oldest first."""
        try:
            content = self.file_of(tenant, legal_entity).read_bytes()
        except FileNotFoundError:
            return []
        return [read_checkpoint(line) for line in content.split(b"\n")[:-1]]

    def last(self, tenant: UUID, legal_entity: str = MAIN) -> Checkpoint | None:
        """The newest that is kept for good, without reading those before it."""
        try:
            line = _last_line(self.file_of(tenant, legal_entity))
        except FileNotFoundError:
            return None
        return read_checkpoint(line) if line else None

    def seal(self, tenant: UUID, legal_entity: str = MAIN) -> Checkpoint | None:
        """The one that stands for what came after the last."""
        try:
            return read_checkpoint(self.seal_of(tenant, legal_entity).read_bytes())
        except FileNotFoundError:
            return None

    def count(self, tenant: UUID, legal_entity: str = MAIN) -> int:
        return len(self.list(tenant, legal_entity))

    def newest(self, tenant: UUID, legal_entity: str = MAIN) -> NewestSigned:
        return NewestSigned(self.last(tenant, legal_entity), self.seal(tenant, legal_entity))

    def since(self, tenant: UUID, legal_entity: str, number: int) -> tuple[int, Sequence[Checkpoint]]:
        """How many are kept for good, and those of them after the first `number`."""
        kept = self.list(tenant, legal_entity)
        return len(kept), kept[number:]

    def covering(self, tenant: UUID, legal_entity: str, sequence: int) -> Checkpoint | None:
        """The first of the present key that attests this sequence."""
        known = self.with_seal(tenant, legal_entity)
        return next((one for one in known if one.sequence >= sequence and one.public_key == known[-1].public_key), None)

    def where(self, tenant: UUID, legal_entity: str) -> str:
        return str(self.file_of(tenant, legal_entity))

    @asynccontextmanager
    async def alone(self, tenant: UUID, legal_entity: str) -> AsyncIterator[None]:
        """One process of this machine at a time writes the files of a partition."""
        file = self.file_of(tenant, legal_entity)
        await asyncio.to_thread(file.parent.mkdir, mode=0o700, parents=True, exist_ok=True)
        with file.with_suffix(".lock").open("ab") as lock:
            await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
            yield

    def with_seal(self, tenant: UUID, legal_entity: str = MAIN) -> Sequence[Checkpoint]:
        """All that are kept for good, then the seal if it goes beyond them."""
        kept, seal = self.list(tenant, legal_entity), self.seal(tenant, legal_entity)
        beyond = seal is not None and (not kept or seal.sequence > kept[-1].sequence)
        return [*kept, seal] if seal is not None and beyond else kept

    def add(self, tenant: UUID, legal_entity: str, made: Checkpoint, number: int = 0) -> None:
        """Keep one for good. The lines count by themselves: its number is not needed here."""
        file = self.file_of(tenant, legal_entity)
        with suppress(FileNotFoundError):
            _drop_torn_line(file)
        with file.open("ab") as opened:
            opened.write(orjson.dumps(made.as_json()) + b"\n")
            opened.flush()
            os.fsync(opened.fileno())
        sync_folder(file.parent)

    def put_seal(self, tenant: UUID, legal_entity: str, made: Checkpoint, mark: str | None = None) -> None:
        """In place of the seal before it, at once and for good."""
        _write_anew(self.seal_of(tenant, legal_entity), orjson.dumps(made.as_json()) + b"\n")

    def set_aside(self, tenant: UUID, legal_entity: str, keep: int, seal: bool, name: str) -> None:
        """Copied before they are taken away: a crash leaves them twice, and what is asked again finds the rest."""
        file, of_seal = self.file_of(tenant, legal_entity), self.seal_of(tenant, legal_entity)
        lines = file.read_bytes().split(b"\n")[:-1] if file.exists() else []
        lost = [*lines[keep:], *([of_seal.read_bytes().rstrip(b"\n")] if seal else [])]
        aside = file.parent / ASIDE / f"{file.stem}-{name}{LINES}"
        aside.parent.mkdir(mode=0o700, exist_ok=True)
        _write_anew(aside, b"".join(line + b"\n" for line in lost))
        if lines[keep:]:
            _write_anew(file, b"".join(line + b"\n" for line in lines[:keep]))
        if seal:
            of_seal.unlink()
            sync_folder(of_seal.parent)

    def drop(self, tenant: UUID, legal_entity: str) -> None:
        """Of those that a restore brought, which nobody needs any more; with the last of them goes their folder."""
        assert self._folder.name == RESTORED
        self.file_of(tenant, legal_entity).unlink(missing_ok=True)
        if not any(self._folder.glob(f"*/*{LINES}")):
            shutil.rmtree(self._folder, ignore_errors=True)

    def tenants(self) -> Iterator[UUID]:
        """Whose checkpoints are here."""
        for folder in sorted(self._folder.iterdir()) if self._folder.is_dir() else ():
            with suppress(ValueError):
                yield UUID(folder.name)

    def legal_entities(self, tenant: UUID) -> Iterator[str]:
        """Whose files are here, by what they say of themselves."""
        folder, seen = self._folder / str(tenant), set()
        # A partition that was never checkpointed has its seal alone.
        for file in sorted([*folder.glob(f"*{LINES}"), *folder.glob(f"*{SEAL}")]):
            with suppress(ValueError, KeyError, TypeError):
                if file.stem not in seen and (line := _last_line(file)):
                    seen.add(file.stem)
                    yield str(read_checkpoint(line).says["legal_entity"])


def _write_anew(file: Path, content: bytes) -> None:
    """At once and for good."""
    draft = file.with_name(f".{file.name}")
    with draft.open("wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
    draft.replace(file)
    sync_folder(file.parent)


def _last_line(file: Path) -> bytes:
    with file.open("rb") as opened:
        end = opened.seek(0, os.SEEK_END)
        length = min(TAIL, end)
        while True:
            opened.seek(end - length)
            whole = opened.read(length).rpartition(b"\n")[0]
            _, cut, line = whole.rpartition(b"\n")
            if cut or length == end:
                return line
            length = min(length * 4, end)


def _drop_torn_line(file: Path) -> None:
    """Whatever stands after the last line's end was cut short by a crash."""
    with file.open("rb+") as opened:
        end = opened.seek(0, os.SEEK_END)
        length = min(TAIL, end)
        while length:
            opened.seek(end - length)
            place = opened.read(length).rfind(b"\n") + 1
            if place or length == end:
                if end - length + place != end:
                    opened.truncate(end - length + place)
                return
            length = min(length * 4, end)
