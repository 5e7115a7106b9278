"""What a source must be able to do: tell its files in one order, and give one of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SeenObject:
    """A file as a source tells of it. The same mark means the same content."""

    key: str
    mark: str
    size: int
    modified: datetime


class SourcePlace(Protocol):
    """Its methods wait for a disk or a network: call them in a thread."""

    @property
    def requests(self) -> int:
        """How often something was asked of it."""
        ...

    def pages(self, after: str) -> Iterator[list[SeenObject]]:
        """All files whose key comes after this one, in the order of the keys' bytes. A page may be empty."""
        ...

    def read(self, key: str, write: Callable[[bytes], object]) -> None: ...

    def address_of(self, key: str) -> str:
        """Where the file is, for good: the identity of its document."""
        ...
