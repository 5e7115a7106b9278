"""Three-way merging of one object: what both sides made of the same beginning, field by field."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from mnemon.errors import InvalidRequest
from mnemon.memory.changing.drafts import check_text
from mnemon.memory.diffs import merge_texts
from mnemon.memory.objects import MemoryObject, clean_tags

Item = TypeVar("Item")
# "ours", "theirs", or a value for each field that clashes.
Resolution = str | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Clash:
    """A field that both sides changed, each in its own way: `content`, `deleted`, `subject_id` or `facets.NAME`."""

    field: str
    base: Any
    ours: Any
    theirs: Any

    def as_json(self) -> dict[str, Any]:
        return {"field": self.field, "base": self.base, "ours": self.ours, "theirs": self.theirs}


@dataclass(frozen=True, slots=True)
class MergeOutcome:
    """What the parent should have; where there are clashes, with the parent's own values for them."""

    object: MemoryObject
    clashes: Sequence[Clash]


def merge_objects(base: MemoryObject | None, ours: MemoryObject | None, theirs: MemoryObject) -> MergeOutcome:
    """`ours` is the parent's, `theirs` the branch's."""
    if ours is None:
        return MergeOutcome(theirs, [])
    if ours.subject_id != theirs.subject_id:
        # Each side began one under the same id. What is said of one person must not be sealed with another's key.
        return MergeOutcome(ours, [Clash("subject_id", None, ours.subject_id, theirs.subject_id)])
    if base is not None and _same(ours, base):
        return MergeOutcome(_like(ours, theirs), [])
    began = base or _empty(theirs)
    content = merge_texts(began.content, ours.content, theirs.content)
    clashes = [] if content is not None else [Clash("content", began.content, ours.content, theirs.content)]
    facets, clashing = _merge_facets(began.facets, ours.facets, theirs.facets)
    merged = replace(
        ours,
        content=ours.content if content is None else content,
        tags=_merge_sets(began.tags, ours.tags, theirs.tags),
        facets=facets,
        parents=_merge_sets(began.parents, ours.parents, theirs.parents),
        links=_merge_sets(began.links, ours.links, theirs.links),
        deleted=theirs.deleted if ours.deleted == began.deleted else ours.deleted,
        deletion_reason=theirs.deletion_reason if theirs.deleted else ours.deletion_reason,
    )
    if merged.deleted and (_changed(base, ours) or _changed(base, theirs)):
        # One side took away what the other went on with.
        return MergeOutcome(merged, [Clash("deleted", began.deleted, ours.deleted, theirs.deleted)])
    return MergeOutcome(merged, clashes + clashing)


def resolve(
    outcome: MergeOutcome, ours: MemoryObject | None, theirs: MemoryObject, resolution: Resolution | None
) -> MergeOutcome:
    """Settle clashes as the caller says; what it leaves open stays one."""
    if resolution is None or not outcome.clashes or ours is None:
        return outcome
    if isinstance(resolution, str):
        if resolution not in ("ours", "theirs"):
            raise InvalidRequest(f"{resolution!r} settles nothing: say ours, theirs, or a value per field.")
        resolution = {clash.field: getattr(clash, resolution) for clash in outcome.clashes}
    if resolution.get("deleted") is False and outcome.clashes[0].field == "deleted":
        # Keeping it means keeping it as the side has it that did not delete it.
        return MergeOutcome(_like(outcome.object, theirs if ours.deleted else ours), [])
    settled = outcome.object
    left = []
    for clash in outcome.clashes:
        if clash.field not in resolution:
            left.append(clash)
        else:
            settled = _with(settled, clash.field, resolution[clash.field])
    return MergeOutcome(settled, left)


def _with(one: MemoryObject, field: str, value: Any) -> MemoryObject:
    name = field.partition(".")[2]
    if field == "subject_id":
        if value != one.subject_id:
            raise InvalidRequest("An object stays about the person it was made about: settle it with ours.")
        return one
    if field == "deleted":
        if not isinstance(value, bool):
            raise InvalidRequest("`deleted` is settled by true or false.")
        return replace(one, deleted=value)
    if not name:
        if not isinstance(value, str):
            raise InvalidRequest(f"`{field}` is settled by a text.")
        check_text(field, value)
        return replace(one, content=value)
    others = {key: kept for key, kept in one.facets.items() if key != name}
    if value is None:
        return replace(one, facets=others)
    if not isinstance(value, str):
        raise InvalidRequest(f"`{field}` is settled by a text, or by null to take it away.")
    check_text(field, value)
    return replace(one, facets=others | {name: value})


def _merge_facets(
    base: Mapping[str, str], ours: Mapping[str, str], theirs: Mapping[str, str]
) -> tuple[dict[str, str], list[Clash]]:
    merged = dict(ours)
    clashes = []
    for name in sorted({*base, *ours, *theirs}):
        began, left, right = base.get(name), ours.get(name), theirs.get(name)
        if right in (began, left):
            continue
        if left == began:
            if right is None:
                merged.pop(name, None)
            else:
                merged[name] = right
        else:
            clashes.append(Clash(f"facets.{name}", began, left, right))
    return merged, clashes


def _merge_sets(base: Sequence[Item], ours: Sequence[Item], theirs: Sequence[Item]) -> tuple[Item, ...]:
    """What either side added is in, what either side took away is out."""
    gone = {one for one in base if one not in ours or one not in theirs}
    return tuple(one for one in dict.fromkeys([*ours, *theirs]) if one not in gone)


def _changed(base: MemoryObject | None, side: MemoryObject) -> bool:
    """Something else than its deletion."""
    return not side.deleted and (base is None or not _same(replace(side, deleted=base.deleted), base))


def _same(one: MemoryObject, other: MemoryObject) -> bool:
    return (one.content, set(one.tags), one.facets, set(one.parents), set(one.links), one.deleted) == (
        other.content, set(other.tags), other.facets, set(other.parents), set(other.links), other.deleted,
    )  # fmt: skip


def _like(one: MemoryObject, model: MemoryObject) -> MemoryObject:
    return replace(
        one,
        content=model.content,
        tags=clean_tags(model.tags),
        facets=dict(model.facets),
        parents=model.parents,
        links=model.links,
        deleted=model.deleted,
        deletion_reason=model.deletion_reason,
    )


def _empty(like: MemoryObject) -> MemoryObject:
    return replace(like, content="", tags=(), facets={}, parents=(), links=(), deleted=False, deleted_at=None)
