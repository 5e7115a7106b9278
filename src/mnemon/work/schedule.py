"""Schedules: jobs that come again by the clock, once however many workers there are."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from mnemon.telemetry import logger
from mnemon.work.cron import Cron, parse_cron
from mnemon.work.kinds import JobKind, NoPayload
from mnemon.work.line import WorkerLine

NOW = "SELECT now() AS now"
DECLARE = "SELECT mnemon.declare_schedule(%s, %s, %s, %s, %s)"
DUE = "SELECT name, next_fire_at, now() AS now FROM mnemon.schedules WHERE name = ANY (%s) AND next_fire_at <= now()"
WAITING = "SELECT name, next_fire_at, now() AS now FROM mnemon.schedules WHERE name = ANY (%s)"
FIRE = "SELECT mnemon.fire_schedule(%s, %s, %s, %s, %s::text::jsonb, %s, %s, %s, %s) AS added"

# By the clock of this process that only goes forward.
MINDED_EVERY = 30.0

log = logger(__name__)


@dataclass(frozen=True)
class Schedule:
    """A job by the clock: for the system, or with `every_tenant` one for each tenant.

    After downtime it fires once, late, and not once for each time that was missed. While its last job is
    unfinished it adds none.
    """

    name: str
    kind: JobKind[Any]
    cron: str
    timezone: str = "UTC"
    payload: BaseModel = field(default_factory=NoPayload)
    every_tenant: bool = False

    def __post_init__(self) -> None:
        _ = self.rule, self.zone

    @cached_property
    def rule(self) -> Cron:
        return parse_cron(self.cron)

    @cached_property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    def next_after(self, moment: datetime) -> datetime:
        return self.rule.next_after(moment, self.zone)


class Scheduler:
    """A worker's share in the schedules. All times are the database's, so a worker with a wrong clock does no harm."""

    def __init__(self, line: WorkerLine, schedules: Sequence[Schedule]) -> None:
        self._line = line
        self._schedules = {schedule.name: schedule for schedule in schedules}
        self._minded = float("-inf")

    async def declare(self) -> None:
        if not self._schedules:
            return
        now = (await self._line.fetch(NOW))[0]["now"]
        for one in self._schedules.values():
            await self._line.fetch(DECLARE, (one.name, one.kind.name, one.cron, one.timezone, one.next_after(now)))

    async def fire_due(self) -> None:
        if not self._schedules:
            return
        await self._mind_the_clock()
        for due in await self._line.fetch(DUE, (list(self._schedules),)):
            await self._fire(self._schedules[due["name"]], due["next_fire_at"], due["now"])

    async def _mind_the_clock(self) -> None:
        """A clock that was set back would leave schedules waiting for times that come again only days later."""
        if time.monotonic() - self._minded < MINDED_EVERY:
            return
        self._minded = time.monotonic()
        for row in await self._line.fetch(WAITING, (list(self._schedules),)):
            one = self._schedules[row["name"]]
            if row["next_fire_at"] > (following := one.next_after(row["now"])):
                log.warning("clock_went_back", schedule=one.name, was_due=row["next_fire_at"].isoformat())
                await self._line.fetch(DECLARE, (one.name, one.kind.name, one.cron, one.timezone, following))

    async def _fire(self, schedule: Schedule, seen: datetime, now: datetime) -> None:
        kind = schedule.kind
        values = (
            schedule.name,
            seen,
            schedule.next_after(now),
            schedule.every_tenant,
            schedule.payload.model_dump_json(),
            kind.max_attempts,
            kind.time_limit,
            kind.backoff.first,
            kind.backoff.cap,
        )
        added = (await self._line.fetch(FIRE, values))[0]["added"]
        if added is not None:
            log.info("schedule_fired", schedule=schedule.name, due=seen.isoformat(), jobs=added)
