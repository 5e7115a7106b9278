"""Delivery: keeps a handler supplied with the events of a subscription."""

from uuid import UUID

from mnemon.log.store import EventLog
from mnemon.log.subscribe.dispatch import Dispatch
from mnemon.log.subscribe.handling import EventHandler
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.subscribe.partition_delivery import PartitionDelivery
from mnemon.log.subscribe.ready import Ready


class Delivery(Dispatch):
    """Calls `handler(event)` at least once for every event, in order per partition.

    `async with Delivery(log, tenant, subscription_id, handler)` delivers in the background.
    """

    def __init__(
        self,
        events: EventLog,
        tenant: UUID,
        subscription_id: str,
        handler: EventHandler,
        *,
        limits: DeliveryLimits | None = None,
    ) -> None:
        chosen = limits or events.delivery

        async def run_partition(ready: Ready) -> bool:
            return await PartitionDelivery(events, ready, handler, chosen, self.stopping).run()

        super().__init__(events, tenant, subscription_id, chosen, run_partition)
