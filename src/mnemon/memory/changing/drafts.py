"""What a caller hands in, checked before anything is recorded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mnemon.errors import InvalidRequest
from mnemon.log.events import Actor
from mnemon.memory.objects import FACET, EmoType, Link, SourceKind

MOST_CHARACTERS = 1_000_000
MOST_FACETS = 100
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
    check_characters(name, text)


def check_characters(name: str, value: Any) -> None:
    """Every text in a value can be stored; one with a zero byte or half a character cannot."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            check_characters(name, key)
            check_characters(str(key), part)
    elif isinstance(value, str):
        if "\x00" in value:
            raise InvalidRequest(f"The {name} holds a zero byte, which no text has.")
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            raise InvalidRequest(f"The {name} holds half a character (a lone surrogate): send proper Unicode.")
    elif isinstance(value, Sequence):
        for part in value:
            check_characters(name, part)


def check_facet(name: str, value: str) -> None:
    if not FACET.fullmatch(name):
        raise InvalidRequest(f"{name!r} is not a facet: give 1 to 100 characters, none of them a control character.")
    check_text(f"facet {name}", value)


def check_amount_of_facets(emo_id: UUID, amount: int) -> None:
    """Every version carries all facets, so that there cannot be any number of them."""
    if amount > MOST_FACETS:
        raise InvalidRequest(
            f"{emo_id} would have {amount} facets, more than {MOST_FACETS}: take some away, or make another object.",
            emo_id=str(emo_id),
        )


def canonical_links(links: Sequence[Link]) -> tuple[Link, ...]:
    """Each link once, with ids of objects in their one spelling."""
    return tuple(dict.fromkeys(_canonical(link) for link in links))


def _canonical(link: Link) -> Link:
    check_text("link", link.ref)
    if link.kind == "uri":
        return link
    if not _is_uuid(link.ref):
        raise InvalidRequest(f"{link.ref!r} is not the id of an object.", ref=link.ref)
    return Link("emo", link.ref.lower())


def source_kind_of(actor: Actor) -> SourceKind:
    """Where something comes from if nobody says: from who brings it."""
    return SOURCES.get(actor.type, "ingest")


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False
