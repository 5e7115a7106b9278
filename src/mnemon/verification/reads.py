"""What the checks read: rows of a tenant, and the events of a type in order."""

from collections.abc import AsyncIterator
from typing import Any

from mnemon.log.events import Event
from mnemon.log.read.streams import Stream
from mnemon.verification.findings import VerifyTask

PAGE = 1000


async def events_of(task: VerifyTask, name: str, kind: str, *, opened: bool = True) -> AsyncIterator[Event]:
    """The events of a type in order. Sealed ones for what was hashed: no reader has lifted them to a newer version."""
    reader = task.parts.log.reader
    after = 0
    while True:
        async with reader.transaction(task.tenant) as connection:
            page = await reader.page_in(
                connection, task.tenant, Stream.of_type(kind), legal_entity=name, start=after, limit=PAGE
            )
        for event in await reader.open(task.tenant, page) if opened else page:
            yield event
        if len(page) < PAGE:
            return
        after = page[-1].sequence


async def rows_of(task: VerifyTask, statement: str, *values: Any) -> list[dict[str, Any]]:
    async with task.parts.database.transaction(task.tenant) as tx:
        return await (await tx.execute(statement, (task.tenant, *values))).fetchall()
