"""Whom a caller names as owner and readers of memory, and what scope an object of theirs has."""

from collections.abc import Sequence

from mnemon.documents.access import BETWEEN, Reader, reader_ids
from mnemon.errors import InvalidRequest
from mnemon.memory.gateway import Memory
from mnemon.memory.operations.object_inputs import ObjectWritten
from mnemon.memory.sharing.scope import MemoryScope
from mnemon.operations import Caller

ME = "me"
ALL = "everyone"


async def scope_asked(memory: Memory, caller: Caller, asked: ObjectWritten) -> MemoryScope:
    """The scope of a new object: it belongs to the person behind the call."""
    own = MemoryScope(
        owner=Reader.of(caller.actor).name, agent_id=asked.agent_id, session_id=asked.session_id,
        writers=asked.writers,
    )  # fmt: skip
    readers = await readers_asked(memory, caller, asked.readers, own)
    return MemoryScope(
        owner=own.owner, agent_id=own.agent_id, session_id=own.session_id, readers=readers, writers=own.writers
    )


async def readers_asked(
    memory: Memory, caller: Caller, named: Sequence[str] | None, scope: MemoryScope
) -> tuple[str, ...] | None:
    """The ids of who was named, with the owner, who always reads; None for everyone."""
    if named is None:
        return scope.readers
    if ALL in named:
        if len(named) > 1:
            raise InvalidRequest(f"`{ALL}` needs no other names beside it.", field="readers")
        return None
    # Whoever calls is known, be it a program at the machine that is no user; others have to be somebody.
    me = Reader.of(caller.actor).name if ME in named else None
    async with memory.log.database.transaction(caller.tenant_id) as tx:
        others = await reader_ids(tx, [one for one in named if one != ME])
    return tuple(dict.fromkeys(one for one in (scope.owner, me, *others) if one))


async def owner_asked(memory: Memory, caller: Caller, named: str | None) -> str | None:
    """The id of an owner; of whoever calls, all of theirs with `BETWEEN` between them."""
    if named is None or named == ME:
        return named and BETWEEN.join(Reader.of(caller.actor).names)
    async with memory.log.database.transaction(caller.tenant_id) as tx:
        [known] = await reader_ids(tx, [named])
    return known
