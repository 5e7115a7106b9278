"""A process to be killed: projects a lens and delivers a subscription that writes one line per event to a file.

Run as `python -m tests.crash.subscriber OWNER_CONNINFO APP_CONNINFO TENANT FILE`.
"""

import asyncio
import os
import sys
from uuid import UUID

from mnemon.db.database import Database
from mnemon.db.external import ExternalServer
from mnemon.log.events import Event
from mnemon.log.project.projector import Projector
from mnemon.log.store import EventLog
from mnemon.log.subscribe.delivery import Delivery
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.types.registry import Registry
from tests.log.conftest import SHOP
from tests.log.shop_lenses import totals

LIMITS = DeliveryLimits(poll_seconds=0.05, batch_events=20, lease_seconds=1)


async def main(owner: str, app: str, tenant: UUID, path: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def write_down(event: Event) -> None:
        os.write(file, f"{event.legal_entity} {event.sequence}\n".encode())
        await asyncio.sleep(0)

    async with (
        Database(ExternalServer(owner, app)) as database,
        EventLog(database, registry=Registry(database, SHOP), delivery=LIMITS) as log,
    ):
        projector = Projector(log, LIMITS)
        projector.add(totals(snapshot_every=50))
        async with projector, Delivery(log, tenant, "written", write_down):
            os.write(1, b"ready\n")
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], UUID(sys.argv[3]), sys.argv[4]))
