"""Lag: how many events subscriptions have not looked at yet, as metrics tell it."""

import time
from collections.abc import Collection
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.subscribe.handling import OTHERS, label_of
from mnemon.telemetry import gauge

LAGS = "SELECT subscription_id, events FROM mnemon.lag_of_subscriptions(%s)"
READ_EVERY_SECONDS = 5.0

LAG = gauge(
    "mnemon_subscription_lag_events", "Events that a subscriber has not looked at yet, all tenants.", ["subscription"]
)
_behind: dict[tuple[UUID, str], int] = {}


def note_lag(tenant: UUID, subscription_id: str, lag: int) -> None:
    """What this process last saw of a tenant's own subscription. Those that every tenant has are read for all."""
    if label_of(subscription_id) != OTHERS:
        return
    _behind.pop((tenant, subscription_id), None)
    if lag:
        _behind[tenant, subscription_id] = lag
    LAG.labels(OTHERS).set(sum(_behind.values()))


class LagOfAll:
    """Reads now and then how far subscriptions that exist in every tenant are behind, whichever process feeds them:
    one that feeds none of a tenant would never see that another has caught up."""

    def __init__(self) -> None:
        self._due = 0.0

    async def read(self, connection: Connection, names: Collection[str]) -> None:
        if time.monotonic() < self._due:
            return
        rows = await (await connection.execute(LAGS, (list(names),))).fetchall()
        found = {row["subscription_id"]: row["events"] for row in rows}
        for name in names:
            LAG.labels(name).set(found.get(name, 0))
        self._due = time.monotonic() + READ_EVERY_SECONDS
