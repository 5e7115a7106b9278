"""What can be asked of memory objects: where, which, what is changed. A field that is added here is on every door."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field

from mnemon.inputs import Cursor, FirstMoment, Maybe, sentence
from mnemon.log.events import MAIN
from mnemon.memory.changing.drafts import MOST_CHARACTERS, MOST_FACETS
from mnemon.memory.objects import MARKDOWN, EmoType, Link, LinkKind, Parent, Place, Relation, SourceKind
from mnemon.memory.reading import Wanted
from mnemon.memory.search import MemorySearchMode
from mnemon.memory.sharing.scope import MemoryWriters
from mnemon.operations import Caller, Input

SHOWN_OF_AN_ID = 60


def says_something(content: str) -> str:
    if not content.strip():
        raise sentence("There is nothing to remember: the text is empty. Write what is to be kept.")
    return content


def _an_id(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return UUID(value)
        except ValueError:
            given = value if len(value) <= SHOWN_OF_AN_ID else f"{value[:SHOWN_OF_AN_ID]}…"
            raise sentence(
                f"“{given}” is not the id of something remembered: recall it by its words, or list the memory, and "
                "take the id shown there, such as 018f4d1e-0000-7000-8000-000000000001."
            ) from None
    return value


Tag = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=MOST_CHARACTERS)]
# What is only white space says nothing that could be found again.
Content = Annotated[Text, AfterValidator(says_something)]
# Whoever errs has its words rather than its id.
ObjectId = Annotated[UUID, BeforeValidator(_an_id)]
Reason = Annotated[str, Field(max_length=10_000)]
Words = Annotated[str, Field(min_length=1, max_length=2000)]
FacetName = Annotated[str, Field(min_length=1, max_length=100)]
BranchName = Annotated[str, Field(max_length=100)]
AsOf = Annotated[str, Field(max_length=40)]
MOST_AT_ONCE = 500
ObjectView = Literal["current", "changelog", "diff", "rationale"]

# An e-mail address, an id like user:…, `me`, or `everyone`.
PersonNamed = Annotated[str, Field(min_length=1, max_length=200)]
ScopeName = Annotated[str, Field(min_length=1, max_length=200)]

KEY = Field(None, min_length=1, max_length=150, description="Your own name for this call: a repeat changes nothing.")
RATIONALE = Field(None, description="The reason, kept with the change.")
EXPECTED = Field(None, ge=1, le=2**31 - 1, description="Refuse if it is not at this version; unset: whatever it is.")
AS_OF = Field(None, description="`v3` is a version, a number a log sequence, else a moment like 2026-03-01T09:30Z.")


class RelatedObject(Input):
    """An object that another came from."""

    emo_id: UUID
    rel: Relation


class Reference(Input):
    """Another object, or something outside."""

    kind: LinkKind
    ref: str = Field(min_length=1, max_length=2000)


class SourceNamed(Input):
    """Where it comes from. A plain text is the address."""

    kind: SourceKind | None = Field(None, description="Unset: `user` for a person, `agent` for an access token.")
    uri: str | None = Field(None, max_length=2000)


def _addressed(value: Any) -> Any:
    return {"uri": value} if isinstance(value, str) else value


class WorldAsked(Input):
    """Which world."""

    world_id: Maybe[UUID] = Field(None, description="The world; unset: the tenant's own.")


class PlaceAsked(WorldAsked):
    """Which world, and which branch of it."""

    branch: BranchName = Field(MAIN, description="The branch.")

    def place(self, caller: Caller) -> Place:
        return Place(self.world_id or caller.tenant_id, self.branch)


class ObjectAsked(PlaceAsked):
    """One object."""

    emo_id: ObjectId = Field(description="The object's id.")


class ObjectChange(ObjectAsked):
    """A change of one object."""

    rationale: Reason | None = RATIONALE
    expected_version: int | None = EXPECTED
    key: str | None = KEY


class ObjectWritten(Input):
    """An object as someone writes it. It is theirs; what a token writes is its owner's."""

    content: Content = Field(description="The text itself.")
    emo_type: EmoType = Field("note", description="What kind of object it is.")
    emo_id: UUID | None = Field(None, description="Its id; unset: a new one.")
    tenant_id: UUID | None = Field(None, description="If given, it must be the caller's own.")
    mime_type: str = Field(MARKDOWN, max_length=200, description="What the content is written in.")
    tags: list[Tag] | None = Field(None, max_length=100, description="Words to find it by.")
    facets: dict[FacetName, Text] | None = Field(
        None, max_length=MOST_FACETS, description="Named parts, such as {'owner': 'Ada'}."
    )
    parents: list[RelatedObject] | None = Field(None, max_length=100, description="Objects that it came from.")
    links: list[Reference] | None = Field(None, max_length=100, description="Objects and addresses that it refers to.")
    source: Annotated[SourceNamed, BeforeValidator(_addressed)] | None = Field(None, description="Where it comes from.")
    subject_id: str | None = Field(
        None, min_length=1, max_length=200, description="Pseudonym of the person it is about: sealed with their key."
    )
    rationale: Reason | None = RATIONALE
    readers: list[PersonNamed] | None = Field(
        None, max_length=100, description="Who may read it beside its owner: addresses, ids, `me`; unset: everyone."
    )
    writers: MemoryWriters = Field("owner", description="Who may change it: its owner alone, or whoever reads it.")
    agent_id: ScopeName | None = Field(None, description="Your name for the agent whose memory it is.")
    session_id: ScopeName | None = Field(None, description="Your name for the session that it belongs to.")
    key: str | None = KEY


class NewObject(PlaceAsked, ObjectWritten):
    """An object, and where it is to be."""


class NewObjects(PlaceAsked):
    """Objects, and where they are to be."""

    objects: list[ObjectWritten] = Field(
        min_length=1, max_length=MOST_AT_ONCE, description="Each as one object is written; all are kept, or none."
    )


class Wanting(PlaceAsked):
    """Objects of a branch: every filter that is set must hold."""

    type: Maybe[EmoType] = Field(None, description="Only objects of this type.")
    tags: list[Tag] | None = Field(None, max_length=50, description="Only objects with all of these tags.")
    updated_since: Maybe[FirstMoment] = Field(None, description="Only what changed at or after this day or moment.")

    subject_id: Maybe[ScopeName] = Field(None, description="Only what is about this person, by pseudonym.")
    owner: Maybe[PersonNamed] = Field(None, description="Only what this person owns: an address, an id, or `me`.")
    agent_id: Maybe[ScopeName] = Field(None, description="Only what belongs to this agent.")
    session_id: Maybe[ScopeName] = Field(None, description="Only what belongs to this session.")

    def wanted(self, owner: str | None) -> Wanted:
        return Wanted(
            emo_type=self.type, tags=self.tags or (), updated_since=self.updated_since, subject_id=self.subject_id,
            owner=owner, agent_id=self.agent_id, session_id=self.session_id,
        )  # fmt: skip


class ObjectsAsked(Wanting):
    """A page of a list, or what a search finds."""

    query: Words | None = Field(None, description="Plain words, as a person would say them; unset: a list.")
    mode: MemorySearchMode = Field("hybrid", description="Of a search: by words, by meaning, or both.")
    as_of: AsOf | None = Field(None, description="Of a list: as of a log sequence, or of a moment.")
    limit: int = Field(100, ge=1, le=1000, description="Most objects on this page; a search finds at most 100.")
    cursor: Cursor = None


class ObjectViewAsked(ObjectAsked):
    """One object, and which view of it."""

    view: ObjectView = Field("current", description="As it is, its changelog, its diffs or its rationales.")
    as_of: AsOf | None = AS_OF
    from_version: int | None = Field(None, ge=1, le=2**31 - 1, description="Of the view `diff`: the earlier version.")
    to_version: int | None = Field(None, ge=1, le=2**31 - 1, description="Of the view `diff`: the later version.")


class NewContent(ObjectChange):
    """Another content."""

    content: Content = Field(description="The text itself.")
    tags: list[Tag] | None = Field(None, max_length=100, description="Unset: as they are.")


class NewRelations(ObjectChange):
    """Relations to add and to take away."""

    parents: list[RelatedObject] | None = Field(None, max_length=100, description="Objects that it came from.")
    links: list[Reference] | None = Field(None, max_length=100, description="Objects and addresses that it refers to.")
    removed_parents: list[RelatedObject] | None = Field(None, max_length=100, description="Parents to take away.")
    removed_links: list[Reference] | None = Field(None, max_length=100, description="Links to take away.")


class FacetAsked(ObjectChange):
    """A facet of an object."""

    name: FacetName = Field(description="The facet's name.")


class NewFacet(FacetAsked):
    """Its value."""

    value: Text = Field(description="What it says.")


class Sharing(ObjectChange):
    """Who reads an object, and who changes it."""

    readers: list[PersonNamed] | None = Field(
        None, max_length=100,
        description="Beside its owner: addresses, ids, `me`, or `everyone`; unset: as they are.",
    )  # fmt: skip
    writers: MemoryWriters | None = Field(None, description="Its owner alone, or whoever reads it; unset: as it is.")


class Deletion(ObjectAsked):
    """Which object is hidden, and why."""

    deletion_reason: Reason = Field("", description="Why; kept in the history.")
    expected_version: int | None = EXPECTED
    key: str | None = KEY


class ObjectsOf(PlaceAsked):
    """Which objects are hidden at once: every filter that is set must hold, and at least one is."""

    subject_id: Maybe[ScopeName] = Field(None, description="What is about this person, by pseudonym.")
    owner: Maybe[PersonNamed] = Field(None, description="What this person owns: an address, an id, or `me`.")
    agent_id: Maybe[ScopeName] = Field(None, description="What belongs to this agent.")
    session_id: Maybe[ScopeName] = Field(None, description="What belongs to this session.")
    deletion_reason: Reason = Field("", description="Why; kept in the history.")


def parents_in(given: Sequence[RelatedObject] | None) -> tuple[Parent, ...]:
    return tuple(dict.fromkeys(Parent(one.emo_id, one.rel) for one in given or ()))


def links_in(given: Sequence[Reference] | None) -> tuple[Link, ...]:
    return tuple(dict.fromkeys(Link(one.kind, one.ref) for one in given or ()))
