"""A three-node Patroni cluster whose primary is killed again and again under writers, uploads and a subscriber.

Before each death the line to the standbys hangs for a second. With a synchronous standby nothing that was acknowledged
may be lost; with asynchronous replication what is lost is counted. Back: the seconds from a kill until a write is
acknowledged again.
"""

import asyncio
import json
import logging
import os
import sys
import tempfile
import time
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import httpx
import psycopg
import structlog
from patroni_cluster import Missing, PatroniCluster

from mnemon.app import Mnemon, open_mnemon
from mnemon.beside import working_inside
from mnemon.errors import MnemonError
from mnemon.identity.roles import Principal, Role
from mnemon.log.append.incoming import DECISION, DECISION_TYPE
from mnemon.log.events import MAIN
from mnemon.settings import Settings
from mnemon.tasks import end
from mnemon.web.site import create_site

QUICK = bool(os.environ.get("QUICK"))
KILLS = int(os.environ.get("KILLS", "1" if QUICK else "5"))
# For how long the line to the standbys hangs before the primary dies. On one machine they would have everything
# otherwise: a standby is as far behind as its line is slow.
HANGS = float(os.environ.get("HANGS", "1"))
WRITERS = 4
MODES = tuple(filter(None, os.environ.get("MODES", "synchronous,asynchronous").split(",")))
NOTE = "The board of office {number} decided on 3 March 2026 to move archive {number} to building 7.\n"


@dataclass
class Watched:
    """What clients were told."""

    client: httpx.AsyncClient
    headers: dict[str, str]
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    events: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    # When each acknowledged write was sent, and when it was acknowledged.
    told: list[tuple[float, float]] = field(default_factory=list)
    followed: list[int] = field(default_factory=list)

    async def post(self, path: str, **given: object) -> dict | None:
        """What was acknowledged, or None."""
        sent = time.monotonic()
        with suppress(httpx.HTTPError, MnemonError):
            answer = await self.client.post(path, headers=self.headers, **given)
            if answer.status_code in (200, 201, 202):
                self.told.append((sent, time.monotonic()))
                return answer.json()
        await asyncio.sleep(0.1)
        return None

    async def write(self, name: str) -> None:
        number = 0
        while not self.stop.is_set():
            number += 1
            event = DECISION | {"entities": [{"entity_type": "decision", "entity_id": f"{name}-{number}"}]}
            if made := await self.post("/v1/events", json={"events": [event]}):
                self.events.append(made["events"][0]["id"])

    async def upload(self) -> None:
        number = 0
        while not self.stop.is_set():
            number += 1
            file = {"file": (f"note-{number}.txt", NOTE.format(number=number).encode())}
            if made := await self.post("/v1/ingest", files=file):
                self.runs.append(made["run_id"])
            await asyncio.sleep(1)

    async def subscribe(self, mnemon: Mnemon, tenant: UUID) -> None:
        """Follows the log, and begins again where it was when the database goes away."""
        while True:
            with suppress(MnemonError, psycopg.Error, OSError):
                async for event in mnemon.log.follow(tenant, after={MAIN: max(self.followed, default=0)}):
                    self.followed.append(event.sequence)
            await asyncio.sleep(0.2)


async def kill_and_wait(cluster: PatroniCluster, watched: Watched) -> float:
    """Seconds from the death of the primary until a write that was sent after it is acknowledged."""
    leader = await asyncio.to_thread(lambda: cluster.leader)
    leader.cut_off()
    await asyncio.sleep(HANGS)
    await asyncio.to_thread(leader.kill)
    killed, seen = time.monotonic(), len(watched.told)
    while not (answered := [at for sent, at in watched.told[seen:] if sent > killed]):
        assert time.monotonic() - killed < 240, "nobody took over"
        await asyncio.sleep(0.05)
    await asyncio.to_thread(leader.start)
    await asyncio.to_thread(cluster.wait_until_whole)
    return answered[0] - killed


async def measure(folder: Path, cluster: PatroniCluster) -> dict[str, float]:
    settings = Settings(home=folder / "home", embedder="none", database_url=cluster.url)
    async with AsyncExitStack() as stack:
        mnemon = await stack.enter_async_context(open_mnemon(settings))
        await stack.enter_async_context(working_inside(mnemon))
        assert mnemon.first_start is not None
        tenant, user = mnemon.first_start.tenant_id, mnemon.first_start.user_id
        session = mnemon.sessions.issue(Principal(tenant, user, Role.ADMIN))
        transport = httpx.ASGITransport(create_site(mnemon), raise_app_exceptions=False)
        client = await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1"))
        watched = Watched(client, {"Authorization": f"Bearer {session.token}"})
        assert await watched.post("/v1/event-types", json=DECISION_TYPE)
        tasks = [asyncio.create_task(watched.write(f"w{number}")) for number in range(WRITERS)]
        tasks.append(asyncio.create_task(watched.upload()))
        following = asyncio.create_task(watched.subscribe(mnemon, tenant))
        backs = []
        for number in range(KILLS):
            while len(watched.events) < (number + 1) * 50:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            backs.append(await kill_and_wait(cluster, watched))
            print(
                f"  kill {number + 1}: back after {backs[-1]:.1f} s, {len(watched.events):,} acknowledged", flush=True
            )
        watched.stop.set()
        await asyncio.gather(*tasks)
        try:
            return await reckon(mnemon, tenant, watched, backs)
        finally:
            await end(following)


async def reckon(mnemon: Mnemon, tenant: UUID, watched: Watched, backs: list[float]) -> dict[str, float]:
    kept, sequences = set(), []
    async for event in mnemon.log.scan(tenant):
        kept.add(str(event.id))
        sequences.append(event.sequence)
    assert sequences == list(range(1, len(sequences) + 1)), "the log has a gap"
    verified = await mnemon.integrity.verify(tenant)
    unread = await ended(watched)
    lost = len(set(watched.events) - kept)
    with suppress(TimeoutError):
        async with asyncio.timeout(60):
            while len(watched.followed) < len(sequences):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
    followed_all = watched.followed == list(range(1, max(len(watched.followed), len(sequences)) + 1))
    return {"acknowledged": len(watched.events), "lost": lost, "uploads": len(watched.runs), "uploads_lost": unread,
            "worst_back_s": max(backs), "intact": not verified.faults, "followed_all": followed_all}  # fmt: skip


async def ended(watched: Watched) -> int:
    """Uploads that were acknowledged and came to no good end, once there is nothing left to do."""
    lost, deadline = 0, time.monotonic() + 240
    for run in watched.runs:
        while True:
            answer = await watched.client.get(f"/v1/ingestion-runs/{run}", headers=watched.headers)
            if answer.status_code == 404 or answer.json().get("status") in ("succeeded", "failed"):
                lost += answer.status_code == 404 or answer.json()["status"] == "failed"
                break
            assert time.monotonic() < deadline, f"run {run} does not end: {answer.text}"
            await asyncio.sleep(0.3)
    return lost


def main() -> None:
    results: dict[str, float] = {}
    for mode in MODES:
        with tempfile.TemporaryDirectory(prefix="mnemon-bench-", ignore_cleanup_errors=True) as folder:
            Path(folder).chmod(0o755)
            try:
                cluster = PatroniCluster(Path(folder), synchronous=mode == "synchronous")
            except Missing as missing:
                sys.exit(f"This bench needs what is not here: {missing}.")
            print(f"{mode} standby, {KILLS} kills of the primary", flush=True)
            with cluster:
                found = asyncio.run(measure(Path(folder), cluster))
        print(f"  {found}", flush=True)
        results |= {f"{mode}_{name}": round(float(value), 1) for name, value in found.items()}
    print(json.dumps({"bench": "failover", "results": results}))


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    logging.disable(logging.ERROR)
    main()
