"""After the storm: what was acknowledged is there, once; nothing is stuck; replay, chain and tampers come out right."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from mnemon.app import Mnemon, open_mnemon
from mnemon.db.embedded import EmbeddedServer
from mnemon.log.read.streams import Stream
from mnemon.settings import Settings
from mnemon.verification.run import verify_everything
from tests.storm.changes import tampered
from tests.storm.clients import TYPE, Ledger
from tests.storm.history import Stored, judge
from tests.storm.stage import Somebody, Stage
from tests.verification.world import World

RUNS = "SELECT run_id, status, error FROM mnemon.ingestion_runs"
TEXTS = """
SELECT count(*) AS n FROM mnemon.revision_texts t JOIN mnemon.document_revisions r USING (tenant_id, doc_version_id)
 WHERE r.is_active AND strpos(t.text, %s) > 0
"""
# A lease that is over and that nobody has taken up again, though workers are about.
ABANDONED = """
SELECT job_id, kind FROM mnemon.jobs
 WHERE status = 'PROCESSING' AND lease_until < clock_timestamp() - interval '60 seconds'
"""


@dataclass
class Reckoning:
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    tampers: int = 0
    unnoticed: list[str] = field(default_factory=list)


async def reckon(stage: Stage, victim: Somebody, others: Sequence[UUID], ledger: Ledger, patience: float) -> Reckoning:
    """With the server and its workers up until all runs of the tenant have ended, then alone with the database."""
    result, tenant = Reckoning(), victim.tenant
    async with _opened(stage) as mnemon:
        await _settled(mnemon, victim, stage.url, ledger, result, patience)
        await _none_abandoned(mnemon, result, patience)
    stage.stop()
    async with _opened(stage) as mnemon:
        verdict = judge(ledger.history, await _log(mnemon, tenant))
        result.lost += verdict.lost
        result.doubled += verdict.doubled
        result.broken += verdict.broken
        await _check_texts(mnemon, tenant, ledger, result)
        for one in (tenant, *others):
            report = await verify_everything(mnemon, one, record=False)
            # Nobody fires schedules any more: the workers are stopped.
            changed = [one for one in report.findings if not one.where.startswith("schedule ")]
            result.broken += [f"verify: {one.as_json()}" for one in changed[:5]]
        await _tamper(mnemon, stage.home, tenant, result)
    return result


@asynccontextmanager
async def _opened(stage: Stage) -> AsyncIterator[Mnemon]:
    async with open_mnemon(Settings(home=stage.home, embedder="none", database_linger_seconds=0)) as mnemon:
        yield mnemon


async def _rows(mnemon: Mnemon, tenant: UUID, statement: str, *values: Any) -> list[dict[str, Any]]:
    async with mnemon.database.transaction(tenant) as tx:
        return await (await tx.execute(statement, values)).fetchall()


async def _settled(
    mnemon: Mnemon, victim: Somebody, url: str, ledger: Ledger, result: Reckoning, patience: float
) -> None:
    """Every acknowledged run ends. One whose workers were all killed has failed, and says so: it is asked for again, as
    its owner would."""
    deadline = time.monotonic() + patience
    tenant = victim.tenant
    waiting: dict[str, str] = {}
    while time.monotonic() < deadline:
        rows = await _rows(mnemon, tenant, RUNS)
        failed = [row for row in rows if row["status"] == "failed"]
        killed = [row["run_id"] for row in failed if (row["error"] or "").startswith("WORKER_LOST")]
        async with httpx.AsyncClient(base_url=url, headers=victim.headers, timeout=60) as client:
            for run in killed:
                (await client.post(f"/v1/ingestion-runs/{run}/retry")).raise_for_status()
        if killed:
            continue
        runs = {str(row["run_id"]): row["status"] for row in rows}
        result.lost = [f"run {run}" for run in ledger.uploads if run not in runs]
        waiting = {run: status for run, status in runs.items() if status in ("queued", "running")}
        if not waiting:
            break
        await asyncio.sleep(0.3)
    result.stuck = [f"run {run} is {status}" for run, status in waiting.items()]


async def _none_abandoned(mnemon: Mnemon, result: Reckoning, patience: float) -> None:
    """Of whatever tenant: what a killed worker held is taken up by another."""
    deadline = time.monotonic() + patience
    while True:
        async with mnemon.database.owner() as owner:
            rows = await (await owner.execute(ABANDONED)).fetchall()
        if not rows or time.monotonic() > deadline:
            break
        await asyncio.sleep(0.3)
    result.stuck += [f"job {row['job_id']} ({row['kind']}) is held by nobody" for row in rows]


async def _check_texts(mnemon: Mnemon, tenant: UUID, ledger: Ledger, result: Reckoning) -> None:
    runs = {str(row["run_id"]): row for row in await _rows(mnemon, tenant, RUNS)}
    for run, (word, _) in ledger.uploads.items():
        if run not in runs or runs[run]["status"] in ("queued", "running"):
            continue
        count = (await _rows(mnemon, tenant, TEXTS, word))[0]["n"]
        if runs[run]["status"] == "failed":
            result.lost.append(f"run {run} failed: {runs[run]['error']}")
        elif count != 1:
            (result.lost if count == 0 else result.doubled).append(f"the text of run {run} is there {count} times")


async def _log(mnemon: Mnemon, tenant: UUID) -> list[Stored]:
    found: list[Stored] = []
    cursor = None
    while True:
        page = await mnemon.log.read_page(tenant, Stream(), limit=1000, cursor=cursor)
        for event in page.events:
            ours = event.type == TYPE["type"]
            key = event.entities[0].entity_id if ours else None
            found.append(Stored(event.sequence, event.data["unit"] if ours else None, key))
        cursor = page.next_cursor
        if cursor is None:
            return found


async def _tamper(mnemon: Mnemon, home: Path, tenant: UUID, result: Reckoning) -> None:
    """As an administrator of the machine would, past every guard."""
    assert isinstance(mnemon.database.server, EmbeddedServer)
    await mnemon.integrity.checkpoint_all()
    way = make_conninfo(mnemon.database.server.cluster.conninfo("postgres"), dbname="mnemon")
    documents = bool(await _rows(mnemon, tenant, "SELECT 1 FROM mnemon.revision_texts LIMIT 1"))
    with psycopg.connect(way, row_factory=dict_row, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        result.tampers, result.unnoticed = await tampered(World(mnemon, tenant, home, superuser), documents=documents)
