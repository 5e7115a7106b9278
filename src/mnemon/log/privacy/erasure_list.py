"""The erasure list: who was forgotten, kept with the keys and outside the database, so that no old copy of it forgets.

One line for each key that was destroyed: ids and numbers, no names. It is written before the destruction is committed.
A database that is older than the list, restored from whatever copy, is brought up to it before anything is served.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from mnemon.errors import MnemonError
from mnemon.ids import new_uuid
from mnemon.log.errors import ErasureNotListed
from mnemon.log.privacy.erasure_lines import line_place
from mnemon.shared_home import Home


@dataclass(frozen=True, slots=True)
class ListedErasure:
    """All keys of this person, document or period up to a generation are destroyed."""

    tenant_id: UUID
    subject_id: str
    generation: int
    at: datetime


class ErasureList:
    """Grows line by line. Several processes may write it; each home has its own."""

    def __init__(self, home: Home) -> None:
        self._lines = line_place(home)

    @property
    def where(self) -> str:
        return self._lines.where

    def exists(self) -> bool:
        return self._lines.first() is not None

    def list_id(self) -> UUID:
        """Which list this is; the first to ask begins it."""
        first = self._lines.first()
        if first is None:
            self._lines.begin(orjson.dumps({"list_id": str(new_uuid())}).decode() + "\n")
            first = self._lines.first()
        return UUID(orjson.loads(first or "")["list_id"])

    @property
    def size(self) -> int:
        """How far it has come, as a place to read on from."""
        return self._lines.size()

    def close_holes(self) -> int:
        """How many of its parts somebody took away; said once."""
        return self._lines.close_holes()

    def add(self, erasures: Iterable[ListedErasure]) -> None:
        """Durable when it returns. A list that cannot be written stops the erasure: it could be undone by a restore."""
        lines = b"".join(orjson.dumps(asdict(one)) + b"\n" for one in erasures)
        try:
            self.list_id()
            self._lines.append(lines.decode())
        except (OSError, MnemonError) as failure:
            reason = failure.strerror if isinstance(failure, OSError) else failure
            raise ErasureNotListed(
                f"The erasure list {self.where} cannot be written ({reason}), so nobody was erased: make room or let "
                "this process write there, then try again.",
                file=self.where,
            ) from failure

    def entries(self, after: int = 0) -> Iterator[ListedErasure]:
        """From a place in the list on."""
        for line in self._lines.after(after):
            try:
                found: dict[str, Any] = orjson.loads(line)
                yield ListedErasure(
                    UUID(found["tenant_id"]), found["subject_id"], found["generation"],
                    datetime.fromisoformat(found["at"]),
                )  # fmt: skip
            except (ValueError, KeyError):
                continue
