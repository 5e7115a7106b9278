"""Whether each part of a running Mnemon can do its work, and if not, why."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import psycopg

from mnemon.db.database import Database
from mnemon.db.migrate import schema_state
from mnemon.errors import MnemonError
from mnemon.log.privacy.privacy import Privacy
from mnemon.work.jobs import list_workers
from mnemon.work.schedule import Schedule

CHECK_LIMIT = 2.0
MEGABYTE = 1 << 20
PROBE = bytes(65_536)
# Requests are answered without these: their silence takes no server out of service.
NOT_NEEDED = frozenset({"queue", "embedder", "integrity"})
SUMMARY = """
SELECT tenants, changed, findings, oldest, mnemon.never_verified_since() AS waiting_since, now() AS now
  FROM mnemon.verification_summary()
"""
OLD = "intact, but only verified since {since:%Y-%m-%d %H:%M}, and it should be oftener"
NEVER = "a tenant that is there since {since:%Y-%m-%d %H:%M} was never verified"
# So long may a verification take that its schedule has begun.
LONGEST_VERIFICATION = timedelta(hours=6)


@dataclass(frozen=True)
class PartState:
    """Whether one part can do its work, and if not, why."""

    ok: bool
    detail: str
    # A part that is not needed to answer requests is reported, but does not take the server out of service.
    needed: bool = True


Check = Callable[[], Awaitable[PartState]]


async def ask_every(checks: Mapping[str, Check]) -> dict[str, PartState]:
    """Every part at once, each within its time."""
    names = list(checks)
    states = await asyncio.gather(*(_within_limit(checks[name](), name not in NOT_NEEDED) for name in names))
    return dict(zip(names, states, strict=True))


async def check_queue(database: Database) -> PartState:
    """Without a worker requests are answered and jobs are accepted, but nothing is processed."""
    async with database.session() as session:
        alive = sum(worker.alive for worker in await list_workers(session))
    workers = "1 worker alive" if alive == 1 else f"{alive} workers alive"
    return PartState(alive > 0, workers if alive else "no worker: run `mnemon work`", needed=False)


async def check_keys(privacy: Privacy) -> PartState:
    """Without its key-encryption keys the log can still be read, but for what it says about people."""
    names = await privacy.keys.check()
    return PartState(True, f"{len(names)} at hand" if names else "none made yet")


async def check_integrity(database: Database, schedules: Sequence[Schedule] = ()) -> PartState:
    """What the last verifications found, and whether they come as they should. Requests are still answered: a person
    has to look into it."""
    async with database.session() as session:
        row = await (await session.execute(SUMMARY)).fetchone()
    assert row is not None
    if row["findings"]:
        detail = f"{row['findings']} findings, verified since {row['oldest']:%Y-%m-%d %H:%M} UTC: run `mnemon verify`"
        return PartState(False, detail, needed=False)
    for what, since in ((OLD, row["oldest"]), (NEVER, row["waiting_since"])):
        if since is not None and any(_is_late(one, since, row["now"]) for one in schedules):
            told = f"{what.format(since=since)} (UTC): look at the jobs `integrity.verify`"
            return PartState(False, told, needed=False)
    detail = f"intact, verified since {row['oldest']:%Y-%m-%d %H:%M} UTC" if row["tenants"] else "not verified yet"
    return PartState(True, detail, needed=False)


def _is_late(schedule: Schedule, last: datetime, now: datetime) -> bool:
    """Two have been due since, the later of them for longer than any takes."""
    return schedule.next_after(schedule.next_after(last)) + LONGEST_VERIFICATION < now


async def check_database(database: Database) -> PartState:
    async with database.session() as session:
        await session.execute("SELECT 1")
    return PartState(True, "answers")


async def check_disk(home: Path, least_mb: int) -> PartState:
    """Whether there is room to write, asked by writing: a quota or a read-only disk shows in no number."""
    return await asyncio.to_thread(_room, home, least_mb)


def _room(home: Path, least_mb: int) -> PartState:
    free = shutil.disk_usage(home).free // MEGABYTE
    try:
        with tempfile.TemporaryFile(dir=home) as probe:
            probe.write(PROBE)
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as failure:
        return PartState(False, f"cannot write to {home}: {failure.strerror}; {_amount(free)} free")
    if free < least_mb:
        return PartState(False, f"{_amount(free)} free in {home}, less than {_amount(least_mb)}: make room")
    return PartState(True, f"{_amount(free)} free")


def _amount(megabytes: int) -> str:
    return f"{megabytes / 1024:,.1f} GB" if megabytes >= 1024 else f"{megabytes} MB"


async def check_migrations(database: Database) -> PartState:
    async with database.session() as session:
        state = await schema_state(session)
    detail = f"step {state.applied} of {state.latest}"
    return PartState(state.current, f"{detail}, {state.outdated} functions to renew" if state.outdated else detail)


async def _within_limit(check: Awaitable[PartState], needed: bool) -> PartState:
    try:
        return await asyncio.wait_for(check, CHECK_LIMIT)
    except TimeoutError:
        return PartState(False, f"no answer within {CHECK_LIMIT:.0f} s", needed)
    except (psycopg.Error, MnemonError, OSError) as failure:
        return PartState(False, str(failure).strip(), needed)
