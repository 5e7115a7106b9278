"""What a user may do with memory objects: create, find, read in four views, change, delete, restore."""

from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from mnemon.documents.access import Reader
from mnemon.errors import NotAllowed
from mnemon.identity.recording import refuse_other_tenant
from mnemon.identity.roles import Action, Role
from mnemon.inputs import from_cursor, to_cursor
from mnemon.log.moments import read_moment, written
from mnemon.memory.changing.beginning import Beginning
from mnemon.memory.changing.change_events import Author
from mnemon.memory.changing.changes import Changed
from mnemon.memory.errors import (
    BranchClosed,
    BranchNotFound,
    DuplicateChange,
    InvalidMemory,
    MemoryConflict,
    MemoryDeleted,
    MemoryNotFound,
)
from mnemon.memory.gateway import Memory
from mnemon.memory.graphs.relations import difference
from mnemon.memory.objects import Place
from mnemon.memory.operations import object_inputs as inputs
from mnemon.memory.operations import object_outputs as outputs
from mnemon.memory.operations.people import owner_asked, readers_asked, scope_asked
from mnemon.memory.reading import Version, Wanted, not_found
from mnemon.operations import Caller, Door, operation

ONE = {"emo_id": "018f4d1e-0000-7000-8000-000000000001"}
MOST_HITS = 100
NOT_THERE = (MemoryNotFound, BranchNotFound)
NOT_CHANGED = (*NOT_THERE, NotAllowed, MemoryDeleted, MemoryConflict, DuplicateChange, BranchClosed)
FEW_TOOLS: dict[Door, str] = {
    "mcp": "Every tool costs every agent a part of its attention: programs and people do this.",
}  # fmt: skip
BY_PROGRAMS: dict[Door, str] = {**FEW_TOOLS, "command": "Programs ask this over REST."}


class Parts(Protocol):
    """What operations on memory need of Mnemon."""

    @property
    def memory(self) -> Memory: ...


def author_of(caller: Caller, key: str | None = None) -> Author:
    in_charge = caller.principal is None or caller.principal.role is Role.ADMIN
    return Author(caller.actor, caller.channel, key, in_charge=in_charge)


@operation(
    "memory.create", Action.WRITE_MEMORY, errors=(DuplicateChange, BranchNotFound, BranchClosed),
    example={"emo_type": "note", "content": "The archive moves to Frankfurt.", "tags": ["hosting"]},
)  # fmt: skip
async def create(mnemon: Parts, caller: Caller, asked: inputs.NewObject) -> outputs.KeptObject:
    """Create a memory object.

    A short text for later: a fact, a preference, a note. One thought per object. Documents go elsewhere.
    """
    if caller.principal is not None:
        refuse_other_tenant(caller.principal, asked.tenant_id)
    given = await beginning_of(mnemon.memory, caller, asked)
    made = await mnemon.memory.changes.create(
        caller.tenant_id, asked.place(caller), author_of(caller, asked.key), **given
    )
    return _kept(made)


@operation(
    "memory.find", Action.READ_MEMORY, read_only=True, errors=(BranchNotFound,),
    example={"query": "where is the archive", "type": "fact"},
)  # fmt: skip
async def find(mnemon: Parts, caller: Caller, asked: inputs.ObjectsAsked) -> outputs.ObjectPage:
    """List memory objects, newest first; with `query`, search them by words and meaning, best first."""
    memory, place = mnemon.memory, asked.place(caller)
    wanted = asked.wanted(await owner_asked(memory, caller, asked.owner))
    if asked.query is None:
        found, total, following = await page_of(memory, caller, place, wanted, asked.limit, asked.cursor, asked.as_of)
        objects = [outputs.FoundObject(**outputs.fields_of(one.object)) for one in found]
        return outputs.ObjectPage(objects=objects, total=total, next_cursor=following)
    if asked.as_of is not None or asked.cursor is not None:
        raise InvalidMemory("A search is of the present and has one page: leave out as_of and cursor.")
    sought = await memory.search.search(
        caller.tenant_id, place, asked.query, mode=asked.mode, wanted=wanted, limit=min(asked.limit, MOST_HITS),
        reader=Reader.of(caller.actor),
    )  # fmt: skip
    hits = [outputs.FoundObject(**outputs.fields_of(one.object), score=round(one.score, 6)) for one in sought.hits]
    return outputs.ObjectPage(objects=hits, total=len(hits), next_cursor=None, mode=sought.mode)


@operation(
    "memory.get", Action.READ_MEMORY, read_only=True, errors=NOT_THERE, example={**ONE, "as_of": "v2"},
    absent={"mcp": "Every result links to its resource, which has the whole text."},
)  # fmt: skip
async def get(mnemon: Parts, caller: Caller, asked: inputs.ObjectViewAsked) -> outputs.ViewedObject:
    """One object: as it is or was, its changelog, its diffs or its rationales."""
    reading, place = mnemon.memory.reading, asked.place(caller)
    reader = Reader.of(caller.actor)
    found = await reading.get(caller.tenant_id, place, asked.emo_id, asked.as_of, reader)
    shown = outputs.fields_of(found.object)
    if asked.view == "current":
        return outputs.ViewedObject(**shown, view_data=_line(found))
    between = asked.view == "diff" and bool(asked.from_version or asked.to_version)
    versions = await reading.history(caller.tenant_id, place, asked.emo_id, contents=between, reader=reader)
    # The changes that led to the version that was asked for.
    led = [one for one in versions if one.object.emo_version <= found.object.emo_version]
    return outputs.ViewedObject(**shown, view_data=_view(asked, place, led))


@operation("memory.history", Action.READ_MEMORY, read_only=True, errors=NOT_THERE, example=ONE, absent=FEW_TOOLS)
async def history(mnemon: Parts, caller: Caller, asked: inputs.ObjectAsked) -> outputs.HistoryOut:
    """Every version of an object, also of a deleted one."""
    versions = await mnemon.memory.reading.history(
        caller.tenant_id, asked.place(caller), asked.emo_id, reader=Reader.of(caller.actor)
    )
    lines = [outputs.VersionWithDiff(**outputs.version_fields(one), diff=one.diff) for one in versions]
    return outputs.HistoryOut(emo_id=asked.emo_id, deleted=versions[-1].object.deleted, versions=lines)


@operation(
    "memory.update", Action.WRITE_MEMORY, errors=NOT_CHANGED, absent=FEW_TOOLS,
    example={**ONE, "content": "It moves to Paris.", "rationale": "The board said so.", "expected_version": 1},
)  # fmt: skip
async def update(mnemon: Parts, caller: Caller, asked: inputs.NewContent) -> outputs.KeptObject:
    """Change the content of an object.

    The same content again changes nothing and adds no version.
    """
    changed = await mnemon.memory.changes.update(
        *_target(caller, asked), content=asked.content, tags=asked.tags, **_why(asked)
    )
    return _kept(changed)


@operation(
    "memory.link", Action.WRITE_MEMORY, errors=NOT_CHANGED, absent=FEW_TOOLS,
    example={**ONE, "links": [{"kind": "uri", "ref": "https://example.org/minutes"}]},
)  # fmt: skip
async def link(mnemon: Parts, caller: Caller, asked: inputs.NewRelations) -> outputs.KeptObject:
    """Relate an object to others or to addresses outside, or take relations away."""
    changed = await mnemon.memory.changes.link(
        *_target(caller, asked), parents=inputs.parents_in(asked.parents), links=inputs.links_in(asked.links),
        removed_parents=inputs.parents_in(asked.removed_parents), removed_links=inputs.links_in(asked.removed_links),
        **_why(asked),
    )  # fmt: skip
    return _kept(changed)


@operation(
    "memory.facet.set", Action.WRITE_MEMORY, errors=NOT_CHANGED, absent=BY_PROGRAMS, idempotent=True,
    example={**ONE, "name": "owner", "value": "Ada"},
)  # fmt: skip
async def set_facet(mnemon: Parts, caller: Caller, asked: inputs.NewFacet) -> outputs.KeptObject:
    """Add a facet, or give it another value."""
    changes = mnemon.memory.changes
    return _kept(await changes.set_facet(*_target(caller, asked), asked.name, asked.value, **_why(asked)))


@operation(
    "memory.facet.remove", Action.WRITE_MEMORY, errors=NOT_CHANGED, absent=BY_PROGRAMS,
    example={**ONE, "name": "owner"},
)  # fmt: skip
async def remove_facet(mnemon: Parts, caller: Caller, asked: inputs.FacetAsked) -> outputs.KeptObject:
    """Take a facet away."""
    changed = await mnemon.memory.changes.remove_facet(*_target(caller, asked), asked.name, **_why(asked))
    if changed.appended is None:
        raise MemoryNotFound(f"{asked.emo_id} has no facet {asked.name!r}.", facet=asked.name)
    return _kept(changed)


@operation(
    "memory.delete", Action.WRITE_MEMORY, errors=NOT_CHANGED, destructive=True, idempotent=True,
    example={**ONE, "deletion_reason": "outdated"},
)  # fmt: skip
async def delete(mnemon: Parts, caller: Caller, asked: inputs.Deletion) -> outputs.DeletedObject:
    """Hide an object: no search and no list shows it any more; its history stays."""
    gone = await mnemon.memory.changes.delete(
        *_target(caller, asked), reason=asked.deletion_reason, expected_version=asked.expected_version
    )
    return outputs.DeletedObject.model_validate(gone.object)


@operation("memory.restore", Action.WRITE_MEMORY, errors=NOT_CHANGED, example=ONE, absent=FEW_TOOLS)
async def restore(mnemon: Parts, caller: Caller, asked: inputs.ObjectChange) -> outputs.KeptObject:
    """Bring a deleted object back as it was."""
    return _kept(await mnemon.memory.changes.restore(*_target(caller, asked), **_why(asked)))


@operation(
    "memory.share", Action.WRITE_MEMORY, errors=NOT_CHANGED, absent=FEW_TOOLS, idempotent=True,
    example={**ONE, "readers": ["me", "bo@example.org"], "writers": "readers"},
)  # fmt: skip
async def share(mnemon: Parts, caller: Caller, asked: inputs.Sharing) -> outputs.KeptObject:
    """Say who may read an object, and who may change it.

    It holds for all its versions, in every branch. Only its owner or an administrator can.
    """
    known = await mnemon.memory.reading.get(
        caller.tenant_id, asked.place(caller), asked.emo_id, reader=Reader.of(caller.actor)
    )
    readers = await readers_asked(mnemon.memory, caller, asked.readers, known.object.scope)
    writers = asked.writers or known.object.scope.writers
    return _kept(
        await mnemon.memory.changes.share(*_target(caller, asked), readers=readers, writers=writers, **_why(asked))
    )


async def beginning_of(memory: Memory, caller: Caller, asked: inputs.ObjectWritten) -> Beginning:
    """What a new object begins with, as it was asked for."""
    source = asked.source or inputs.SourceNamed()
    return Beginning(
        content=asked.content, emo_type=asked.emo_type, emo_id=asked.emo_id, mime_type=asked.mime_type,
        tags=asked.tags or (), facets=asked.facets, parents=inputs.parents_in(asked.parents),
        links=inputs.links_in(asked.links), source_kind=source.kind, source_uri=source.uri,
        subject_id=asked.subject_id, rationale=asked.rationale, scope=await scope_asked(memory, caller, asked),
    )  # fmt: skip


async def page_of(
    memory: Memory, caller: Caller, place: Place, wanted: Wanted, limit: int, cursor: str | None,
    as_of: str | None = None,
) -> tuple[list[Version], int, str | None]:  # fmt: skip
    """Newest first, how many there are in all, and the cursor of what follows."""
    here, reader = (caller.tenant_id, place, wanted), Reader.of(caller.actor)
    found = await memory.reading.page(*here, as_of=as_of, limit=limit + 1, before=_position(cursor), reader=reader)
    total = await memory.reading.count(*here, as_of=as_of, reader=reader)
    last = found[limit - 1].object if len(found) > limit else None
    return found[:limit], total, to_cursor(f"{written(last.updated_at)} {last.emo_id}") if last else None


def _position(cursor: str | None) -> tuple[datetime, UUID] | None:
    text = from_cursor(cursor)
    if text is None:
        return None
    moment, _, emo_id = text.partition(" ")
    try:
        return read_moment(moment), UUID(emo_id)
    except ValueError:
        raise InvalidMemory("This cursor is of another list: leave it out to start over.", cursor=cursor) from None


def _view(asked: inputs.ObjectViewAsked, place: Place, versions: list[Version]) -> Any:
    if asked.view == "changelog":
        return outputs.Changelog(changes=[_line(one) for one in versions])
    if asked.view == "rationale":
        return outputs.Rationales(rationales=[_line(one) for one in versions if one.rationale])
    if not (asked.from_version or asked.to_version):
        diffs = [outputs.VersionDiff(emo_version=one.object.emo_version, diff=one.diff) for one in versions]
        return outputs.Diffs(diffs=diffs)
    known = {one.object.emo_version: one.object for one in versions}
    first, last = asked.from_version or 1, asked.to_version or max(known)
    for version in (first, last):
        if version not in known:
            raise not_found(place, asked.emo_id, f"v{version}")
    between = difference(known[first], known[last])
    return outputs.DiffBetween(from_version=first, to_version=last, diff=between)


def _line(one: Version) -> outputs.VersionOut:
    return outputs.VersionOut(**outputs.version_fields(one))


def _target(caller: Caller, asked: inputs.ObjectChange | inputs.Deletion) -> tuple[UUID, Place, Author, UUID]:
    """With what every function of `memory.changes` about one object begins."""
    return caller.tenant_id, asked.place(caller), author_of(caller, asked.key), asked.emo_id


def _why(asked: inputs.ObjectChange) -> dict[str, Any]:
    return {"rationale": asked.rationale, "expected_version": asked.expected_version}


def _kept(changed: Changed) -> outputs.KeptObject:
    return outputs.KeptObject(**outputs.fields_of(changed.object), changed=changed.appended is not None)
