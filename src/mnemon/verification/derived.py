"""Every lens by replay, every snapshot of an entity by folding it anew."""

from typing import Any

from mnemon.errors import Conflict
from mnemon.log.partitions import Partition
from mnemon.log.project.lens import Lens
from mnemon.log.project.lens_states import LensStanding
from mnemon.log.read.pattern import find_next
from mnemon.verification.findings import CheckReport, VerifyTask

# Seconds: for so long another replay of a lens is waited for, which may be an honest one.
PATIENCE = 60.0


async def check_lenses(task: VerifyTask, report: CheckReport) -> None:
    """A lens whose rows have the hash that the last replay gave, and nothing has happened to since, is not replayed."""
    known: dict[str, Any] = task.before.get("lenses", {})
    for standing in await task.parts.projector.list(task.tenant):
        lens = standing.lens
        before = known.get(lens.name)
        if standing.status == "outdated":
            _check_version(report, standing, before)
            continue
        partitions = await task.parts.log.list_partitions(task.tenant)
        stored = await task.parts.projector.rows_hash(task.tenant, lens.name)
        if task.portion and before and await _stands(task, lens, partitions, before, stored.hex()):
            report.remembered[lens.name] = before
            continue
        try:
            verified = await task.parts.projector.verify(task.tenant, lens.name, wait=PATIENCE)
        except Conflict:
            report.find(
                f"lens {lens.name}",
                f"It was not compared: for {PATIENCE:.0f} s another session has said that it replays it. Verify again; "
                "if that lasts, look who holds an advisory lock in pg_locks.",
            )
            if before:
                report.remembered[lens.name] = before
            continue
        report.checked += verified.events
        if not verified.matches:
            report.find(
                f"lens {lens.name}",
                "Its rows are not what the log gives: rebuild it with "
                f"`mnemon lens rebuild {lens.name}`, then find out who changed them.",
            )
        else:
            report.remembered[lens.name] = _remembered(lens, partitions, verified.stored_hash.hex())


def _check_version(report: CheckReport, standing: LensStanding, before: dict[str, Any] | None) -> None:
    """Rows of another version are about to be made anew, and then looked at; of an earlier one than before, never."""
    if before:
        report.remembered[standing.lens.name] = before
    if before and standing.state and before["version"] == standing.lens.version:
        report.find(
            f"lens {standing.lens.name}",
            f"Its rows are said to be of version {standing.state.version}, and were of {before['version']}: nobody "
            "looks at them until they are made anew, as at the next start.",
        )


async def check_snapshots(task: VerifyTask, report: CheckReport) -> None:
    async for entity, sequence in task.parts.entity_states.wrong_snapshots(task.tenant):
        report.find(
            f"{entity.entity_type} {entity.entity_id}",
            f"Its snapshot as of event {sequence} of {entity.legal_entity} is not what its events give.",
        )
    report.checked += 1


async def _stands(
    task: VerifyTask, lens: Lens, partitions: list[Partition], before: dict[str, Any], stored: str
) -> bool:
    if before["version"] != lens.version or before["hash"] != stored:
        return False
    for one in partitions:
        place = one.partition_id, one.legal_entity
        after = int(before["positions"].get(one.legal_entity, "0"))
        while after < one.sequence and lens.pattern.wants_partition(one.legal_entity):
            found = await find_next(
                task.parts.log.reader, task.tenant, lens.pattern, place, after=after, head=one.sequence, limit=1
            )
            if found.events:
                return False
            after = found.searched_to
    return True


def _remembered(lens: Lens, partitions: list[Partition], stored: str) -> dict[str, Any]:
    return {
        "version": lens.version,
        "hash": stored,
        "positions": {one.legal_entity: str(one.sequence) for one in partitions},
    }
