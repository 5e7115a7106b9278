"""What the database says was signed, compared with the files: neither can be shortened alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.proof.checkpoint import Checkpoint

CHECKPOINTS = """
SELECT number, sequence, digest FROM mnemon.checkpoints WHERE tenant_id = %s AND legal_entity = %s ORDER BY number
"""
SEAL = "SELECT sequence, digest FROM mnemon.seals WHERE tenant_id = %s AND legal_entity = %s"
NAMES = """
SELECT legal_entity FROM mnemon.partitions WHERE tenant_id = %(tenant)s
UNION SELECT legal_entity FROM mnemon.checkpoints WHERE tenant_id = %(tenant)s
UNION SELECT legal_entity FROM mnemon.seals WHERE tenant_id = %(tenant)s
"""


@dataclass(frozen=True, slots=True)
class SignedRecord:
    """A sequence that was attested, and the digest of the statement."""

    number: int
    sequence: int
    digest: str


@dataclass(frozen=True, slots=True)
class SignedRecords:
    """What was signed of a partition: all that is kept for good, and how far it came."""

    checkpoints: Sequence[SignedRecord] = ()
    newest: SignedRecord | None = None


async def recorded_in(connection: Connection, tenant: UUID, legal_entity: str) -> SignedRecords:
    rows = await (await connection.execute(CHECKPOINTS, (tenant, legal_entity))).fetchall()
    seal = await (await connection.execute(SEAL, (tenant, legal_entity))).fetchone()
    return SignedRecords(
        [SignedRecord(row["number"], row["sequence"], row["digest"].hex()) for row in rows],
        SignedRecord(0, seal["sequence"], seal["digest"].hex()) if seal else None,
    )


async def signed_names_in(connection: Connection, tenant: UUID) -> set[str]:
    """The legal entities that must have a log, whether they still have one or not."""
    rows = await (await connection.execute(NAMES, {"tenant": tenant})).fetchall()
    return {row["legal_entity"] for row in rows}


def record_faults(
    kept: Sequence[Checkpoint], seal: Checkpoint | None, recorded: SignedRecords
) -> Iterator[tuple[int, str]]:
    """Where files and record disagree, as (sequence, reason). One line more in the file is what a crash leaves."""
    signed = recorded.checkpoints
    for place, one in enumerate(signed, 1):
        if one.number != place:
            yield one.sequence, f"the record of checkpoint {place} is missing in the database"
            break
        if place > len(kept):
            yield one.sequence, f"it was signed, but the file ends after {len(kept)} of {len(signed)}"
            break
        if (kept[place - 1].digest, kept[place - 1].sequence) != (one.digest, one.sequence):
            yield one.sequence, "another one stands in its place in the file"
            break
    if len(kept) > len(signed) + 1:
        yield kept[len(signed)].sequence, f"the database has a record of {len(signed)} of {len(kept)} only"
    newest = recorded.newest
    files = [one for one in (*kept[-2:], seal) if one is not None]
    if newest is not None and newest.sequence > max((one.sequence for one in files), default=0):
        yield newest.sequence, "it was signed as a seal, but its file is missing or an older one"
    elif newest is not None and not any(newest.sequence < one.sequence or newest.digest == one.digest for one in files):
        yield newest.sequence, "the seal in the file is not the one that was signed"
