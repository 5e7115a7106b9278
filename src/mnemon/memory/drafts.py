"""What a caller hands in, checked before anything is recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mnemon.errors import InvalidRequest
from mnemon.log.events import Actor
from mnemon.memory.objects import FACET, EmoType, Link, SourceKind

MOST_CHARACTERS = 1_000_000
SOURCES: dict[str, SourceKind] = {"human": "user", "agent": "agent"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The part of a new object that someone wrote."""

    emo_type: EmoType
    content: str
    mime_type: str
    tags: Sequence[str]

    def as_data(self) -> dict[str, Any]:
        data: dict[str, Any] = {"emo_type": self.emo_type, "content": self.content, "mime_type": self.mime_type}
        return data | ({"tags": list(self.tags)} if self.tags else {})


def check_text(name: str, text: str) -> None:
    if len(text) > MOST_CHARACTERS:
        raise InvalidRequest(
            f"The {name} has {len(text):,} characters, more than {MOST_CHARACTERS:,}: split it, or store a document."
        )
    if "\x00" in text:
        raise InvalidRequest(f"The {name} holds a zero byte, which no text has.")


def check_facet(name: str, value: str) -> None:
    if not FACET.fullmatch(name):
        raise InvalidRequest(f"{name!r} is not a facet: give 1 to 100 characters, none of them a control character.")
    check_text(f"facet {name}", value)


def check_links(links: Sequence[Link]) -> None:
    for link in links:
        check_text("link", link.ref)
        if link.kind == "emo" and not _is_uuid(link.ref):
            raise InvalidRequest(f"{link.ref!r} is not the id of an object.", ref=link.ref)


def source_kind_of(actor: Actor) -> SourceKind:
    """Where something comes from if nobody says: from who brings it."""
    return SOURCES.get(actor.type, "ingest")


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False
