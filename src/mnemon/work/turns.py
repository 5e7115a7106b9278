"""Turns: which kind a worker's next claim begins with, and after which tenant of each kind."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from mnemon.work.kinds import JobKind

NOBODY = UUID(int=0)


class Turns:
    """One worker's memory of whom it served. Each worker has its own, and nothing is lost with it."""

    def __init__(self, kinds: Iterable[JobKind[Any]]) -> None:
        self.kinds = list(kinds)
        self._served: dict[str, UUID] = {}

    def served_last(self, kind: str) -> UUID:
        """The tenant that had the last turn within a kind."""
        return self._served.get(kind, NOBODY)

    def pass_on(self, claimed: Sequence[dict[str, Any]]) -> None:
        """The kind that came first goes to the end; within each kind the tenants after the last served come next."""
        if not claimed:
            return
        first = [kind.name for kind in self.kinds].index(claimed[0]["kind"]) + 1
        self.kinds = self.kinds[first:] + self.kinds[:first]
        self._served.update((row["kind"], row["tenant_id"]) for row in claimed)
