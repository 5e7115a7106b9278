"""After the storm: what was acknowledged is there, once; nothing is stuck; replay, chain and tampers come out right."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg
from psycopg.conninfo import make_conninfo

from mnemon.app import Mnemon, open_mnemon
from mnemon.db.embedded import EmbeddedServer
from mnemon.log.proof.verify import verify
from mnemon.log.read.streams import Stream
from mnemon.settings import Settings
from tests.storm.clients import TYPE, Ledger
from tests.storm.history import Stored, judge
from tests.storm.stage import Stage

RUNS = "SELECT run_id, status, error FROM mnemon.ingestion_runs"
TEXTS = """
SELECT count(*) AS n FROM mnemon.revision_texts t JOIN mnemon.document_revisions r USING (tenant_id, doc_version_id)
 WHERE r.is_active AND strpos(t.text, %s) > 0
"""
# Each with the statement that takes it back. The chain alone is asked: what else is checked comes with `mnemon verify`.
TAMPERS = {
    "a payload": ("UPDATE mnemon.event_payloads SET payload = payload || ' ' WHERE {place}",
                  "UPDATE mnemon.event_payloads SET payload = rtrim(payload, ' ') WHERE {place}"),
    "an envelope": ("UPDATE mnemon.events SET envelope = envelope || ' ' WHERE {place}",
                    "UPDATE mnemon.events SET envelope = rtrim(envelope, ' ') WHERE {place}"),
    "a moment": ("UPDATE mnemon.events SET recorded_at = recorded_at + interval '1 second' WHERE {place}",
                 "UPDATE mnemon.events SET recorded_at = recorded_at - interval '1 second' WHERE {place}"),
    "a digest": ("UPDATE mnemon.events SET payload_digest = sha256(payload_digest) WHERE {place}", ""),
}  # fmt: skip


@dataclass
class Reckoning:
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    tampers: int = 0
    unnoticed: list[str] = field(default_factory=list)


async def reckon(stage: Stage, tenant: UUID, ledger: Ledger, patience: float) -> Reckoning:
    """With the server and its workers up until all runs have ended, then alone with the database."""
    result = Reckoning()
    async with _opened(stage) as mnemon:
        await _settled(mnemon, tenant, ledger, result, patience)
    stage.stop()
    async with _opened(stage) as mnemon:
        verdict = judge(ledger.history, await _log(mnemon, tenant))
        result.lost += verdict.lost
        result.doubled += verdict.doubled
        result.broken += verdict.broken
        await _check_texts(mnemon, tenant, ledger, result)
        report = await verify(mnemon.log.reader, tenant)
        result.broken += [] if report.intact else [f"the chain: {report.faults[:3]}"]
        for lens in ("documents", "memory"):
            replayed = await mnemon.projector.verify(tenant, lens)
            result.broken += [] if replayed.matches else [f"the lens {lens} is not what the log gives"]
        await _tamper(mnemon, tenant, result)
    return result


@asynccontextmanager
async def _opened(stage: Stage) -> AsyncIterator[Mnemon]:
    async with open_mnemon(Settings(home=stage.home, embedder="none", database_linger_seconds=0)) as mnemon:
        yield mnemon


async def _rows(mnemon: Mnemon, tenant: UUID, statement: str, *values: Any) -> list[dict[str, Any]]:
    async with mnemon.database.transaction(tenant) as tx:
        return await (await tx.execute(statement, values)).fetchall()


async def _settled(mnemon: Mnemon, tenant: UUID, ledger: Ledger, result: Reckoning, patience: float) -> None:
    """Every acknowledged run ends; an end with a reason is an answer, silence is not."""
    deadline = time.monotonic() + patience
    waiting: dict[str, str] = {}
    while time.monotonic() < deadline:
        runs = {str(row["run_id"]): row["status"] for row in await _rows(mnemon, tenant, RUNS)}
        result.lost = [f"run {run}" for run in ledger.uploads if run not in runs]
        waiting = {run: status for run, status in runs.items() if status in ("queued", "running")}
        if not waiting:
            break
        await asyncio.sleep(0.3)
    result.stuck = [f"run {run} is {status}" for run, status in waiting.items()]


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


async def _tamper(mnemon: Mnemon, tenant: UUID, result: Reckoning) -> None:
    """As an administrator of the machine would, past every guard; each is taken back before the next."""
    assert isinstance(mnemon.database.server, EmbeddedServer)
    way = make_conninfo(mnemon.database.server.cluster.conninfo("postgres"), dbname="mnemon")
    middle = f"SELECT max(sequence) / 2 + 1 FROM mnemon.events WHERE tenant_id = '{tenant}'"
    place = f"tenant_id = '{tenant}' AND sequence = ({middle})"
    with psycopg.connect(way, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        for name, (do, undo) in TAMPERS.items():
            changed = superuser.execute(do.format(place=place).encode()).rowcount
            if not changed:
                continue
            result.tampers += 1
            if (await verify(mnemon.log.reader, tenant)).intact:
                result.unnoticed.append(name)
            if undo:
                superuser.execute(undo.format(place=place).encode())
