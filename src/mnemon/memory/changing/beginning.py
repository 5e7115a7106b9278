"""What a new object begins with."""

from collections.abc import Mapping, Sequence
from typing import Any, Required, TypedDict, Unpack
from uuid import UUID

from mnemon.ids import new_time_ordered_uuid
from mnemon.memory.changing.change_events import Author, because, object_id_of, relations_as_data
from mnemon.memory.changing.checks import ChangeChecks
from mnemon.memory.changing.drafts import (
    Draft,
    canonical_links,
    check_amount_of_facets,
    check_facet,
    check_text,
    source_kind_of,
)
from mnemon.memory.objects import MARKDOWN, EmoType, Link, Parent, Place, SourceKind, clean_tags
from mnemon.memory.sharing.scope import OF_NOBODY, MemoryScope


class Beginning(TypedDict, total=False):
    """What a new object may begin with."""

    content: Required[str]
    emo_type: EmoType
    emo_id: UUID | None
    mime_type: str
    tags: Sequence[str]
    facets: Mapping[str, str] | None
    parents: Sequence[Parent]
    links: Sequence[Link]
    source_kind: SourceKind | None
    source_uri: str | None
    subject_id: str | None
    rationale: str | None
    scope: MemoryScope


async def begin(
    checks: ChangeChecks, tenant: UUID, place: Place, author: Author, **given: Unpack[Beginning]
) -> tuple[UUID, dict[str, Any]]:
    """The id and the data of a new object, once nothing speaks against it."""
    content, facets, emo_id = given["content"], given.get("facets") or {}, given.get("emo_id")
    parents, links = given.get("parents", ()), canonical_links(given.get("links", ()))
    check_text("content", content)
    for name, value in facets.items():
        check_facet(name, value)
    identity = emo_id or (object_id_of(tenant, place, author) if author.key else new_time_ordered_uuid())
    check_amount_of_facets(identity, len(facets))
    await checks.refuse_repeat(tenant, place, author)
    if emo_id is not None or author.key is not None:
        # An id of our own making is nobody else's, and the projector knows whether the branch is open.
        await checks.refuse_taken(tenant, place, identity, given.get("scope", OF_NOBODY).owner)
    await checks.refuse_targets(tenant, place, author, identity, parents, links)
    data = Draft(
        emo_type=given.get("emo_type", "note"), content=content, mime_type=given.get("mime_type", MARKDOWN),
        tags=clean_tags(given.get("tags", ())),
    ).as_data()  # fmt: skip
    source_kind = given.get("source_kind") or source_kind_of(author.actor)
    data |= {"tenant_id": str(tenant), "source": {"kind": source_kind}}
    data |= {"facets": dict(facets)} if facets else {}
    data |= {"source_uri": given["source_uri"]} if given.get("source_uri") else {}
    data |= because(given.get("rationale")) | given.get("scope", OF_NOBODY).as_data()
    return identity, data | relations_as_data(parents, links)
