"""What a user may do with many memory objects at once: keep them, and forget all of a person, agent or session."""

from uuid import UUID

from mnemon.documents.access import Reader
from mnemon.errors import InvalidRequest, NotAllowed
from mnemon.identity.recording import refuse_other_tenant
from mnemon.identity.roles import Action
from mnemon.memory.changing.beginning import Beginning
from mnemon.memory.changing.change_events import Author
from mnemon.memory.errors import BranchClosed, BranchNotFound, DuplicateChange, MemoryDeleted
from mnemon.memory.objects import MemoryObject
from mnemon.memory.operations import object_inputs as inputs
from mnemon.memory.operations.objects import FEW_TOOLS, Parts, author_of, beginning_of
from mnemon.memory.operations.people import owner_asked
from mnemon.memory.reading import Wanted
from mnemon.operations import Caller, Output, operation

PAGE = 200


class KeptOfMany(Output):
    """One of the objects, in the order given; a repeated key finds what the first call kept."""

    emo_id: UUID
    emo_version: int
    stored: bool


class KeptObjects(Output):
    objects: list[KeptOfMany]


class Forgotten(Output):
    """How many objects were hidden, and how many of them are not the caller's to hide."""

    forgotten: int
    left: int


@operation(
    "memory.create_many", Action.WRITE_MEMORY, errors=(DuplicateChange, BranchNotFound, BranchClosed), absent=FEW_TOOLS,
    example={"objects": [{"content": "The archive moves to Frankfurt."}, {"content": "Ada prefers mail."}]},
)  # fmt: skip
async def create_many(mnemon: Parts, caller: Caller, asked: inputs.NewObjects) -> KeptObjects:
    """Keep many memory objects at once, all or none.

    Give each a `key`: whoever sends the same again finds what was kept, and nothing is kept twice.
    """
    place, changes = asked.place(caller), mnemon.memory.changes
    kept: list[KeptOfMany | None] = []
    new: list[tuple[Author, Beginning]] = []
    _refuse_twice(asked)
    for number, one in enumerate(asked.objects, 1):
        if caller.principal is not None:
            refuse_other_tenant(caller.principal, one.tenant_id)
        author = author_of(caller, one.key)
        try:
            await changes.checks.refuse_repeat(caller.tenant_id, place, author)
            new.append((author, await beginning_of(mnemon.memory, caller, one)))
            kept.append(None)
        except DuplicateChange as repeat:
            known = repeat.details
            kept.append(KeptOfMany(emo_id=known["emo_id"], emo_version=known["emo_version"], stored=False))
        except InvalidRequest as refusal:
            raise InvalidRequest(f"Object {number}: {refusal.message}", **refusal.details) from None
    made = iter(await changes.create_all(caller.tenant_id, place, new) if new else ())
    return KeptObjects(objects=[one or _stored(next(made)) for one in kept])


@operation(
    "memory.forget", Action.WRITE_MEMORY, errors=(BranchNotFound, BranchClosed), destructive=True, idempotent=True,
    example={"subject_id": "customer-17", "deletion_reason": "asked to be forgotten"}, absent=FEW_TOOLS,
)  # fmt: skip
async def forget(mnemon: Parts, caller: Caller, asked: inputs.ObjectsOf) -> Forgotten:
    """Hide all objects about a person, or of an owner, an agent or a session.

    Their history stays in the log. To destroy what is about a person for good, erase them: `mnemon privacy erase`.
    """
    memory, place, reader = mnemon.memory, asked.place(caller), Reader.of(caller.actor)
    owner = await owner_asked(memory, caller, asked.owner)
    wanted = Wanted(subject_id=asked.subject_id, owner=owner, agent_id=asked.agent_id, session_id=asked.session_id)
    if wanted == Wanted():
        raise InvalidRequest("Say whose: a subject_id, an owner, an agent_id or a session_id.")
    forgotten, left, before = 0, 0, None
    while page := await memory.reading.page(caller.tenant_id, place, wanted, limit=PAGE, before=before, reader=reader):
        for one in page:
            try:
                await memory.changes.delete(
                    caller.tenant_id, place, author_of(caller), one.object.emo_id, reason=asked.deletion_reason
                )
                forgotten += 1
            except NotAllowed:
                left += 1
            except MemoryDeleted:
                # Someone else was quicker.
                continue
        before = page[-1].object.updated_at, page[-1].object.emo_id
    return Forgotten(forgotten=forgotten, left=left)


def _refuse_twice(asked: inputs.NewObjects) -> None:
    keys = [one.key for one in asked.objects if one.key is not None]
    for key in keys:
        if keys.count(key) > 1:
            raise InvalidRequest(f"The key {key!r} stands for {keys.count(key)} of these objects: give each its own.")


def _stored(one: MemoryObject) -> KeptOfMany:
    return KeptOfMany(emo_id=one.emo_id, emo_version=one.emo_version, stored=True)
