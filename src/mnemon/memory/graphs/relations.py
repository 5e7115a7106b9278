"""What an object's state means in the lenses: its edges, its texts, and how two states differ."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from mnemon.memory.determinism import text_hash
from mnemon.memory.diffs import diff_texts
from mnemon.memory.objects import MemoryObject, name_of
from mnemon.memory.personal import is_erased

EdgeKind = Literal["SUPERSEDED_BY", "DERIVES_FROM", "LINKS_TO", "HAS_FACET", "EXPLAINED_BY"]
TextKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of the graph that one object's state gives rise to; it ends at an object or at something else."""

    kind: EdgeKind
    source_id: UUID
    target_id: UUID | None = None
    target: str | None = None
    properties: Mapping[str, Any] = field(default_factory=dict, compare=False, hash=False)

    def edge_id(self, owner: UUID) -> UUID:
        return name_of(owner, self.kind, self.source_id, self.target_id or self.target)


def edges_of(one: MemoryObject | None) -> dict[Edge, None]:
    """In a fixed order. A deleted object keeps its relations: its node says that it is deleted."""
    if one is None:
        return {}
    found: list[Edge] = []
    for parent in one.parents:
        if parent.rel == "supersedes":
            found.append(Edge("SUPERSEDED_BY", parent.emo_id, one.emo_id))
        else:
            found.append(Edge("DERIVES_FROM", one.emo_id, parent.emo_id, properties={"rel": parent.rel}))
    for link in one.links:
        if link.kind == "emo":
            found.append(Edge("LINKS_TO", one.emo_id, UUID(link.ref)))
        else:
            found.append(Edge("LINKS_TO", one.emo_id, target=link.ref))
    found += [Edge("HAS_FACET", one.emo_id, target=f"facet:{name}") for name in sorted(one.facets)]
    return dict.fromkeys(found)


def texts_of(one: MemoryObject | None) -> dict[TextKey, bytes]:
    """What can be searched by meaning, by its digest; nothing of what is deleted or erased."""
    if one is None or one.deleted:
        return {}
    texts = {("content", ""): one.content} | {("facet", name): value for name, value in one.facets.items()}
    return {key: text_hash(text) for key, text in texts.items() if text.strip() and not is_erased(text)}


def links_of_row(one: MemoryObject | None) -> dict[UUID, dict[str, Any]]:
    """The rows of the table of links, by their id."""
    if one is None:
        return {}
    return {
        name_of(one.emo_id, *sorted(relation.items())): {
            "rel": relation["rel"],
            "target_emo_id": relation.get("target_emo_id"),
            "target_uri": relation.get("target_uri"),
        }
        for relation in one.relations
    }


def difference(before: MemoryObject | None, after: MemoryObject, content_diff: Any = None) -> dict[str, Any]:
    """What a change did, field by field, with both sides; nothing for an object that began."""
    if before is None:
        return {}
    found: dict[str, Any] = {}
    if before.content != after.content:
        found["content"] = content_diff or diff_texts(before.content, after.content)
    if before.tags != after.tags:
        found["tags"] = {"old": list(before.tags), "new": list(after.tags)}
    facets = {
        name: {"old": before.facets.get(name), "new": after.facets.get(name)}
        for name in sorted({*before.facets, *after.facets})
        if before.facets.get(name) != after.facets.get(name)
    }
    if facets:
        found["facets"] = facets
    if before.parents != after.parents:
        found["parents"] = {
            "old": [one.as_json() for one in before.parents],
            "new": [one.as_json() for one in after.parents],
        }
    if before.links != after.links:
        found["links"] = {"old": [one.as_json() for one in before.links], "new": [one.as_json() for one in after.links]}
    if (before.scope.readers, before.scope.writers) != (after.scope.readers, after.scope.writers):
        old, new = before.scope.as_json(), after.scope.as_json()
        found["scope"] = {
            name: {"old": old[name], "new": new[name]} for name in ("readers", "writers") if old[name] != new[name]
        }
    if before.deleted != after.deleted:
        found["deleted"] = {"old": before.deleted, "new": after.deleted}
    return found
