"""Memory objects as values: what one holds, where it lives, and what it is related to."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid5

from mnemon.errors import InvalidRequest
from mnemon.log.events import MAIN
from mnemon.memory.sharing.scope import OF_NOBODY, MemoryScope

EmoType = Literal["note", "fact", "doc", "artifact", "profile"]
SourceKind = Literal["user", "agent", "ingest"]
Relation = Literal["derived", "supersedes", "merges"]
LinkKind = Literal["uri", "emo"]

EMO_TYPES: tuple[EmoType, ...] = ("note", "fact", "doc", "artifact", "profile")
MARKDOWN = "text/markdown"
# "Still": the end of what holds now. The largest sequence a partition can have is one less.
STILL = 2**63 - 1
BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
FACET = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,100}")
# Names made from other names are the same at every replay.
NAMES = UUID("5f6a1f0e-6d1b-5d0c-9a66-1c6b7a0c5e04")


@dataclass(frozen=True, slots=True)
class Place:
    """A branch of a world. A world is a set of objects that one tenant keeps together; its trunk is `main`."""

    world_id: UUID
    branch: str = MAIN

    def __post_init__(self) -> None:
        if not BRANCH.fullmatch(self.branch):
            raise InvalidRequest(
                f"{self.branch!r} is not a branch: use 1 to 100 letters, digits and ._-, the first a letter or digit.",
                branch=self.branch,
            )

    @property
    def graph(self) -> str:
        """`emo_550e8400_main`: the name of the branch's graph."""
        return f"emo_{self.world_id.hex[:8]}_{re.sub(r'[^A-Za-z0-9_]', '_', self.branch)}"

    def entity(self, emo_id: UUID) -> str:
        """Under which id the log counts an object's versions: each branch counts its own."""
        return f"{self.world_id}/{self.branch}/{emo_id}"


@dataclass(frozen=True, slots=True, order=True)
class Parent:
    """An object that this one came from."""

    emo_id: UUID
    rel: Relation

    def as_json(self) -> dict[str, str]:
        return {"emo_id": str(self.emo_id), "rel": self.rel}


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """A reference to another object or to something outside."""

    kind: LinkKind
    ref: str

    def as_json(self) -> dict[str, str]:
        return {"kind": self.kind, "ref": self.ref}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryObject:
    """An object in one version. `base_version` is what its branch took over from the parent branch."""

    emo_id: UUID
    place: Place
    emo_type: EmoType
    emo_version: int
    content: str
    source_kind: SourceKind
    created_at: datetime
    updated_at: datetime
    updated_by: str
    sequence: int
    base_version: int = 0
    mime_type: str = MARKDOWN
    tags: tuple[str, ...] = ()
    facets: Mapping[str, str] = field(default_factory=dict)
    parents: tuple[Parent, ...] = ()
    links: tuple[Link, ...] = ()
    subject_id: str | None = None
    source_uri: str | None = None
    vector_meta: Mapping[str, Any] | None = None
    deleted: bool = False
    deleted_at: datetime | None = None
    deletion_reason: str | None = None
    # Not of one version: who may read it is said of the whole object, in every branch at once.
    scope: MemoryScope = field(default=OF_NOBODY, compare=False)

    @property
    def relations(self) -> list[dict[str, str]]:
        """Parents and links in the form of the table of links."""
        found = [{"rel": one.rel, "target_emo_id": str(one.emo_id)} for one in self.parents]
        ends = {"uri": "target_uri", "emo": "target_emo_id"}
        return found + [{"rel": "links", ends[link.kind]: link.ref} for link in self.links]


def normalized(text: str) -> str:
    """One spelling of the same text: composed characters, line feeds."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))


def clean_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """In the order given, each once."""
    return tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))


def name_of(*parts: object) -> UUID:
    """The same parts give the same UUID."""
    return uuid5(NAMES, "\x1f".join(map(str, parts)))
