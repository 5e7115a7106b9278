"""The line in which texts wait to be embedded in bulk: tenants take turns, and the documents of each."""

import itertools
import threading
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from mnemon.models.embedder import Vectors

PlaceInLine = tuple[str, str]

_place: ContextVar[PlaceInLine | None] = ContextVar("place_in_the_bulk_line", default=None)
_calls = itertools.count()


@contextmanager
def in_turn(tenant: UUID, document: UUID | None = None) -> Iterator[None]:
    """What is embedded in bulk meanwhile waits in the line of this tenant, and of this document where it is one."""
    token = _place.set((str(tenant), str(document) if document else ""))
    try:
        yield
    finally:
        _place.reset(token)


@dataclass(eq=False)
class BulkSlice:
    """Some texts that one thread embeds without a pause, and where their vectors will be."""

    texts: Sequence[str]
    vectors: "Future[Vectors]" = field(default_factory=Future)


class BulkLine:
    """Slices of all callers. A call with ten thousand texts delays one with ten by a slice, not by its length."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tenants: OrderedDict[str, OrderedDict[str, deque[BulkSlice]]] = OrderedDict()

    def join(self, slices: Sequence[BulkSlice]) -> None:
        """At the end of the document's own line. Who says no name stands there with this call alone."""
        tenant, document = _place.get() or ("", "")
        with self._lock:
            documents = self._tenants.setdefault(tenant, OrderedDict())
            documents.setdefault(document or f"call {next(_calls)}", deque()).extend(slices)

    def take(self) -> BulkSlice | None:
        """The slice whose turn it is, unless its caller has given up. The tenant and document go to the end."""
        with self._lock:
            while self._tenants:
                tenant, documents = self._tenants.popitem(last=False)
                document, slices = documents.popitem(last=False)
                taken = slices.popleft()
                if slices:
                    documents[document] = slices
                if documents:
                    self._tenants[tenant] = documents
                if taken.vectors.set_running_or_notify_cancel():
                    return taken
        return None

    def disperse(self) -> None:
        """Nobody will take what still waits."""
        with self._lock:
            waiting: list[Future[Any]] = [
                one.vectors for documents in self._tenants.values() for slices in documents.values() for one in slices
            ]
            self._tenants.clear()
        for vectors in waiting:
            vectors.cancel()
