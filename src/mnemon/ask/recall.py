"""What memory gives to an answer. Memory stands beside ask and not below it: the composition root ties the two."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from mnemon.documents.access import Reader


@dataclass(frozen=True)
class Remembered:
    """A memory object in the version that was found, and how relevant it is to the question."""

    emo_id: UUID
    emo_version: int
    emo_type: str
    branch: str
    content: str
    updated_at: datetime
    score: float


class Recall(Protocol):
    """Finds memory objects for a question that are for the reader, best first."""

    async def __call__(self, tenant: UUID, question: str, limit: int, reader: "Reader") -> Sequence[Remembered]: ...


async def remember_nothing(tenant: UUID, question: str, limit: int, reader: "Reader") -> Sequence[Remembered]:
    """Where there is no memory."""
    return ()
