"""What was done to tenants, users and tokens, and by whom: written to the log, and read from it."""

from typing import Any, LiteralString
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.identity.events import ALL, MODULE
from mnemon.log.append.transaction import LogTransaction
from mnemon.log.events import Actor, EntityReference, NewEvent
from mnemon.log.read.reader import StreamPage
from mnemon.log.read.streams import Filter, Stream
from mnemon.log.store import EventLog
from mnemon.log.types.event_type import EventType

# The tag makes a stream of them, so that finding the last ten does not mean looking through the whole log.
CHANGES = Stream.of_tag(MODULE)
OURS = Filter(types=[one.type for one in ALL])


async def record_change(transaction: LogTransaction, actor: Actor, happening: EventType, **data: Any) -> None:
    """Part of the transaction that makes the change: both stand, or neither."""
    plain = {field: str(value) for field, value in data.items()}
    await transaction.append(
        [
            NewEvent(
                type=happening.type,
                data=plain,
                actor=actor,
                entities=list(_entities(happening, plain)),
                tags=[MODULE],
            )
        ]
    )


async def row_seal(connection: Connection, statement: LiteralString, *values: Any) -> str:
    """What the statement answers as `seal`: the digest of a row as a change leaves it."""
    row = await (await connection.execute(statement, values)).fetchone()
    assert row is not None
    sealed: str = row["seal"]
    return sealed


async def recent_changes(log: EventLog, tenant: UUID, limit: int, cursor: str | None = None) -> StreamPage:
    """Newest first."""
    return await log.read_page(tenant, CHANGES, OURS, direction="backward", cursor=cursor, limit=limit)


def kind_of(event_type: str) -> str:
    """`user.added` for `identity.user.added`."""
    return event_type.removeprefix(f"{MODULE}.")


def _entities(happening: EventType, data: dict[str, str]) -> list[EntityReference]:
    subject = happening.required_entities[0].entity_type
    named = {field.removesuffix("_id"): value for field, value in data.items() if field.endswith("_id")}
    return [
        EntityReference(kind, identity, "subject" if kind == subject else "owner") for kind, identity in named.items()
    ]
