"""Witnessing: keep the roots of another Mnemon's log, each only if it grew out of the one before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Json

from mnemon.db.database import Connection
from mnemon.errors import InvalidRequest
from mnemon.log.errors import WitnessRefused
from mnemon.log.proof.checkpoint import Checkpoint
from mnemon.log.proof.consistency import is_consistent
from mnemon.log.proof.handover import keys_after
from mnemon.log.proof.merkle import fold
from mnemon.log.proof.signing import is_signed

TAKE_TURNS = "SELECT pg_advisory_xact_lock(hashtextextended('witness ' || %s || ' ' || %s || ' ' || %s, 0))"
LAST = """
SELECT sequence, root, public_key, checkpoint, path, kept_at FROM mnemon.witnessed_checkpoints
 WHERE tenant_id = %s AND origin = %s AND legal_entity = %s ORDER BY sequence DESC LIMIT 1
"""
SINCE = """
SELECT sequence, root, public_key, checkpoint, path, kept_at FROM mnemon.witnessed_checkpoints
 WHERE tenant_id = %s AND origin = %s AND legal_entity = %s AND sequence >= %s ORDER BY sequence LIMIT %s
"""
KEEP = """
INSERT INTO mnemon.witnessed_checkpoints (tenant_id, origin, legal_entity, sequence, root, public_key, checkpoint, path)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
"""


@dataclass(frozen=True, slots=True)
class WitnessedCheckpoint:
    """A root that is kept, and the path that leads to it from the one before."""

    sequence: int
    root: bytes
    public_key: str
    checkpoint: dict[str, Any]
    path: list[str]
    kept_at: datetime


def read_checkpoint(given: dict[str, Any]) -> Checkpoint:
    """A checkpoint from outside, whole and signed by the key that it names."""
    try:
        made = Checkpoint.from_json(given)
        whole = len(made.frontier) == made.sequence.bit_count() and fold(made.frontier) == made.root and made.head
    except (ValueError, LookupError, TypeError, AttributeError) as failure:
        raise InvalidRequest(f"This is no checkpoint: {failure}.") from None
    if not whole or not is_signed(made.public_key, made.signature, made.statement):
        raise InvalidRequest("The checkpoint's signature or its frontier does not fit its statement.")
    return made


async def keep_in(connection: Connection, tenant: UUID, given: Checkpoint, path: Sequence[str]) -> bool:
    """Keep it if it follows from the last one; False if it is kept already. A contradiction is refused for ever."""
    place = tenant, str(given.says["tenant_id"]), str(given.says["legal_entity"])
    await connection.execute(TAKE_TURNS, tuple(map(str, place)))
    last = await last_in(connection, *place)
    if last is not None:
        _refuse_stranger(last, given)
        if given.sequence <= last.sequence:
            return await _known(connection, place, given)
        if not is_consistent(last.sequence, last.root, given.sequence, given.root, _hashes(path)):
            raise WitnessRefused(
                f"This log of {given.sequence} events does not hold the {last.sequence} that were witnessed before, or "
                "the proof is missing: send `path` from there.",
                kept=str(last.sequence),
            )
    values = (given.sequence, given.root, given.public_key, Json(given.as_json()), list(path) if last else [])
    await connection.execute(KEEP, (*place, *values))
    return True


async def last_in(connection: Connection, tenant: UUID, origin: str, legal_entity: str) -> WitnessedCheckpoint | None:
    row = await (await connection.execute(LAST, (tenant, origin, legal_entity))).fetchone()
    return WitnessedCheckpoint(**row) if row else None


async def kept_since(
    connection: Connection, tenant: UUID, origin: str, legal_entity: str, since: int, limit: int
) -> list[WitnessedCheckpoint]:
    """From a sequence on: each with the path from the one before it, so that the first leads to the last."""
    rows = await (await connection.execute(SINCE, (tenant, origin, legal_entity, since, limit))).fetchall()
    return [WitnessedCheckpoint(**row) for row in rows]


async def _known(connection: Connection, place: tuple[UUID, str, str], given: Checkpoint) -> bool:
    """An older one is fine if it is one of those that are kept; anything else says that there are two histories."""
    [*found] = await kept_since(connection, *place, given.sequence, 1)
    if found and found[0].sequence == given.sequence and found[0].root != given.root:
        raise WitnessRefused(
            f"Another root of {given.sequence} events was witnessed before: this log has two histories.",
            kept=found[0].root.hex(),
        )
    return False


def _refuse_stranger(last: WitnessedCheckpoint, given: Checkpoint) -> None:
    if given.public_key not in keys_after(last.public_key, given.keys):
        raise WitnessRefused(
            f"The checkpoint is signed with {given.public_key}, which {last.public_key} did not announce.",
            public_key=given.public_key,
        )


def _hashes(path: Sequence[str]) -> list[bytes]:
    try:
        return [bytes.fromhex(one) for one in path]
    except ValueError:
        raise InvalidRequest("The path is not a list of hashes in hexadecimal digits.") from None
