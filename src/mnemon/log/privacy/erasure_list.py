"""The erasure list: who was forgotten, kept with the keys and outside the database, so that no old copy of it forgets.

One line for each key that was destroyed: ids and numbers, no names. It is written before the destruction is committed.
A database that is older than the list, restored from whatever copy, is brought up to it before anything is served.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

from mnemon.ids import new_uuid
from mnemon.keyfile import key_folder, write_once
from mnemon.log.errors import ErasureNotListed

NAME = "erasures.jsonl"


@dataclass(frozen=True, slots=True)
class ListedErasure:
    """All keys of this person, document or period up to a generation are destroyed."""

    tenant_id: UUID
    subject_id: str
    generation: int
    at: datetime


class ErasureList:
    """Grows line by line. Several processes may write it; each home has its own."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.file = home / "keys" / NAME

    def exists(self) -> bool:
        return self.file.exists()

    def list_id(self) -> UUID:
        """Which list this is; the first to ask begins it."""
        if not self.exists():
            key_folder(self._home)
            write_once(self.file, orjson.dumps({"list_id": str(new_uuid())}).decode() + "\n")
        with self.file.open("rb") as source:
            return UUID(orjson.loads(source.readline())["list_id"])

    @property
    def size(self) -> int:
        return self.file.stat().st_size

    def add(self, erasures: Iterable[ListedErasure]) -> None:
        """Durable when it returns. A list that cannot be written stops the erasure: it could be undone by a restore."""
        lines = b"".join(orjson.dumps(asdict(one)) + b"\n" for one in erasures)
        try:
            self.list_id()
            handle = os.open(self.file, os.O_RDWR | os.O_APPEND)
            try:
                # Whoever was killed while writing left half a line, and its erasure was not committed.
                torn = os.pread(handle, 1, os.fstat(handle).st_size - 1) != b"\n"
                os.write(handle, (b"\n" if torn else b"") + lines)
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as failure:
            raise ErasureNotListed(
                f"The erasure list {self.file} cannot be written ({failure.strerror}), so nobody was erased: make room "
                "or let this process write there, then try again.",
                file=str(self.file),
            ) from failure

    def entries(self, after: int = 0) -> Iterator[ListedErasure]:
        """From a place in the file on."""
        with self.file.open("rb") as source:
            source.seek(after)
            for line in source:
                try:
                    found: dict[str, Any] = orjson.loads(line)
                    yield ListedErasure(
                        UUID(found["tenant_id"]), found["subject_id"], found["generation"],
                        datetime.fromisoformat(found["at"]),
                    )  # fmt: skip
                except (ValueError, KeyError):
                    continue
