"""A writer for the crash tests: appends without end, and notes every acknowledgement in a file.

    log_writer.py TENANT SEED TASKS NOTES APP_CONNINFO OWNER_CONNINFO [HOME]

With HOME the database is the embedded server there, which this process restarts if it finds it dead.
"""

import asyncio
import os
import random
import sys
from pathlib import Path
from uuid import UUID

import psycopg

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer
from mnemon.errors import MnemonError
from mnemon.log.events import Actor, EntityReference, NewEvent, Scope
from mnemon.log.store import EventLog
from mnemon.log.types.event_type import EventType
from mnemon.log.types.registry import Registry

COUNTED = EventType(type="crash.step.counted", data_schema={"type": "object", "required": ["key"]})
PARTITIONS = ("P1", "P2", "P3", "P4")


def batch(writer: str, number: int, choice: random.Random) -> list[NewEvent]:
    """One to three events of one partition, each with a key of its own."""
    scope = Scope(choice.choice(PARTITIONS))
    return [
        NewEvent(
            type=COUNTED.type,
            data={"key": f"{writer}/{number}/{place}"},
            actor=Actor("system", writer),
            scope=scope,
            entities=[EntityReference("thing", str(choice.randrange(5)))],
            idempotency_key=f"{writer}/{number}/{place}",
        )
        for place in range(choice.randint(1, 3))
    ]


async def write(log: EventLog, tenant: UUID, writer: str, seed: int, notes: int) -> None:
    choice = random.Random(seed)
    number = 0
    while True:
        number += 1
        events = batch(writer, number, choice)
        while True:
            try:
                appended = await log.append(tenant, events)
                break
            except (MnemonError, psycopg.Error):
                # What a careful caller does: the same events, with the same keys, until there is an answer.
                await asyncio.sleep(0.05)
        for event, result in zip(events, appended, strict=True):
            os.write(notes, f"{event.scope.legal_entity} {result.sequence} {event.idempotency_key}\n".encode())


async def main() -> None:
    tenant, seed, tasks, file, app, owner, *home = sys.argv[1:]
    server = EmbeddedServer(Path(home[0]), 0) if home else ExternalServer(owner, app)
    notes = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    async with (
        Database(server, pool_size=4) as database,
        EventLog(database, registry=Registry(database, [COUNTED])) as log,
    ):
        await asyncio.gather(
            *(write(log, UUID(tenant), f"w{seed}.{task}", int(seed) * 100 + task, notes) for task in range(int(tasks)))
        )


if __name__ == "__main__":
    asyncio.run(main())
