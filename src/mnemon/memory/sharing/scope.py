"""The scope of an object as a value: whose it is, of which agent and session, who reads it and who changes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mnemon.documents.access import Reader

MemoryWriters = Literal["owner", "readers"]
SCOPE_FIELDS = ("owner", "agent_id", "session_id", "readers", "writers")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryScope:
    """Readers that are None are everyone of the tenant. An object of nobody is changed by whoever reads it."""

    owner: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    readers: tuple[str, ...] | None = None
    writers: MemoryWriters = "readers"

    def as_json(self) -> dict[str, Any]:
        readers = None if self.readers is None else list(self.readers)
        return {name: getattr(self, name) for name in SCOPE_FIELDS} | {"readers": readers}

    def as_data(self) -> dict[str, Any]:
        """For an event: what is said, and nothing for an object of nobody."""
        said = {name: value for name, value in self.as_json().items() if value is not None}
        return {"scope": said} if self != OF_NOBODY else {}

    def is_for(self, reader: Reader) -> bool:
        return self.readers is None or reader.is_among(self.readers)

    def is_changed_by(self, reader: Reader) -> bool:
        return self.owner is None or self.writers == "readers" or reader.is_among([self.owner])


OF_NOBODY = MemoryScope()


def scope_of(given: Mapping[str, Any]) -> MemoryScope:
    """From a row, a snapshot or an event; those of earlier versions say nothing of it."""
    readers = given.get("readers")
    return MemoryScope(
        owner=given.get("owner"),
        agent_id=given.get("agent_id"),
        session_id=given.get("session_id"),
        readers=None if readers is None else tuple(readers),
        writers=given.get("writers") or "readers",
    )
