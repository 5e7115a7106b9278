"""Every partition of the log, from what was signed: whole, or what is new and one stretch of the old."""

import asyncio
from collections.abc import Iterator
from typing import Any

from mnemon.log.errors import NothingToAttest
from mnemon.log.proof.verify import ChainReport
from mnemon.log.proof.walk import ChainPosition
from mnemon.verification.findings import NIGHTS, CheckReport, VerifyTask

HASH_AT = """
SELECT e.hash FROM mnemon.events e JOIN mnemon.partitions p USING (tenant_id, partition_id)
 WHERE e.tenant_id = %s AND p.legal_entity = %s AND e.sequence = %s
"""


async def check_chains(task: VerifyTask, report: CheckReport) -> None:
    known: dict[str, Any] = task.before.get("heads", {})
    for name in sorted({*await task.parts.integrity.legal_entities(task.tenant), *known}):
        for one in await _verified(task, name, known.get(name)):
            report.checked += one.checked
            for fault in one.faults:
                report.find(f"{name} {fault.sequence}", fault.message)
            report.remembered[name] = await asyncio.to_thread(_head, task, name, one)
        if name in known:
            await _check_before(task, report, name, known[name])


async def check_witnesses(task: VerifyTask, report: CheckReport) -> None:
    """What places outside saw must still be here."""
    if not task.parts.witnesses.places:
        return
    for name in await task.parts.integrity.legal_entities(task.tenant):
        report.checked += 1
        async for reason in task.parts.witnesses.contradictions(task.tenant, name):
            report.find(name, reason)


async def _verified(task: VerifyTask, name: str, before: dict[str, str] | None) -> list[ChainReport]:
    integrity, tenant = task.parts.integrity, task.tenant
    try:
        if task.portion is None or before is None:
            return [await integrity.verify(tenant, name)]
        position = ChainPosition(int(before["sequence"]), bytes.fromhex(before["hash"]))
        old = await integrity.verify(tenant, name, stretch=(task.portion.number, NIGHTS))
        return [old, await integrity.verify(tenant, name, resume=position)]
    except NothingToAttest:
        return []


def _head(task: VerifyTask, name: str, report: ChainReport) -> dict[str, str]:
    """What the next verification holds this log against: no file or row has to be believed for it."""
    return {
        "sequence": str(report.position.sequence),
        "hash": report.position.hash.hex(),
        "checkpoints": str(_kept(task, name)),
    }


def _kept(task: VerifyTask, name: str) -> int:
    try:
        return task.parts.integrity.checkpoints.count(task.tenant, name)
    except ValueError:
        return 0


async def _check_before(task: VerifyTask, report: CheckReport, name: str, before: dict[str, str]) -> None:
    """The log still is what the last verification saw, and no checkpoint is gone since, in files and rows alike."""
    for reason in await asyncio.to_thread(lambda: list(_lost(task, name, before))):
        report.find(name, reason)
    async with task.parts.database.transaction(task.tenant) as connection:
        values = (task.tenant, name, int(before["sequence"]))
        row = await (await connection.execute(HASH_AT, values)).fetchone()
    if row is None or row["hash"].hex() != before["hash"]:
        report.find(
            f"{name} {before['sequence']}", "This event is not the one that the last verification saw at this place."
        )


def _lost(task: VerifyTask, name: str, before: dict[str, str]) -> Iterator[str]:
    kept = _kept(task, name)
    if kept < int(before["checkpoints"]):
        yield f"The last verification saw {before['checkpoints']} checkpoints, now there are {kept}."
