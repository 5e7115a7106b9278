"""What another Mnemon may ask of this one as its witness: keep a root, show what was kept, prove what lies between."""

from datetime import datetime
from typing import Any

from pydantic import Field

from mnemon.errors import InvalidRequest, NotFound
from mnemon.identity.roles import Action
from mnemon.log.errors import WitnessRefused
from mnemon.log.events import MAIN
from mnemon.log.proof.witnessing import WitnessedCheckpoint, keep_in, kept_since, last_in, read_checkpoint
from mnemon.log_operations.fields import BY_PROGRAMS, Parts, SequenceNumber, Where
from mnemon.operations import Caller, Input, Output, operation

ORIGIN = "018f4d1e-0000-7000-8000-000000000001"
LARGEST_PATH = 130


class RootToKeep(Input):
    """A checkpoint of another Mnemon's log, and what proves that it grew out of the last one."""

    checkpoint: dict[str, Any] = Field(description="As `mnemon log checkpoint --json` shows it.")
    path: list[str] = Field(
        default_factory=list, max_length=LARGEST_PATH,
        description="From the last one that is kept here, as `/v1/integrity/consistency` of the other Mnemon gives it.",
    )  # fmt: skip


class WitnessedLog(Input):
    """Whose log."""

    origin: str = Field(max_length=100, description="The tenant of the other Mnemon, by its id.")
    legal_entity: Where = MAIN


class WitnessedSince(WitnessedLog):
    """Whose log, and from where on."""

    since: SequenceNumber = Field("1", description="The sequence of the first checkpoint that is wanted.")
    limit: int = Field(100, ge=1, le=1_000, description="Most checkpoints in one answer.")


class WitnessedOut(Output):
    """A checkpoint that is kept; `path` leads to its root from the root before it."""

    sequence: str
    root: str
    public_key: str
    checkpoint: dict[str, Any]
    path: list[str]
    kept_at: datetime


class RootKept(Output):
    """What became of a checkpoint."""

    kept: bool = Field(description="Whether it was new.")
    sequence: str


class WitnessedList(Output):
    """Checkpoints that are kept, the oldest first: together their paths prove that the first grew into the last."""

    checkpoints: list[WitnessedOut]


EXAMPLE = {"origin": ORIGIN, "legal_entity": "main"}


@operation(
    "witness.keep", Action.APPEND_EVENTS, idempotent=True, errors=(InvalidRequest, WitnessRefused),
    absent={**BY_PROGRAMS, "web": "Another server leaves its roots here; a person has none to leave."},
    example={"checkpoint": {"statement": "{…}", "public_key": "…", "signature": "…", "frontier": []}, "path": []},
)  # fmt: skip
async def keep(mnemon: Parts, caller: Caller, asked: RootToKeep) -> RootKept:
    """Keep the signed root of another Mnemon's log, if it grew out of the one that is kept."""
    given = read_checkpoint(asked.checkpoint)
    async with mnemon.database.transaction(caller.tenant_id) as connection:
        new = await keep_in(connection, caller.tenant_id, given, asked.path)
    return RootKept(kept=new, sequence=str(given.sequence))


@operation(
    "witness.last", Action.READ_LOG, read_only=True, errors=(NotFound,), absent=BY_PROGRAMS, example=EXAMPLE
)  # fmt: skip
async def last(mnemon: Parts, caller: Caller, asked: WitnessedLog) -> WitnessedOut:
    """The newest root of another Mnemon's log that is kept here."""
    async with mnemon.database.transaction(caller.tenant_id) as connection:
        found = await last_in(connection, caller.tenant_id, asked.origin, asked.legal_entity)
    if found is None:
        raise NotFound(f"Nothing of {asked.origin} is kept here.", origin=asked.origin)
    return _shown(found)


@operation("witness.kept", Action.READ_LOG, read_only=True, absent=BY_PROGRAMS, example={**EXAMPLE, "since": "6"})
async def kept(mnemon: Parts, caller: Caller, asked: WitnessedSince) -> WitnessedList:
    """The roots of another Mnemon's log that are kept here, each with the proof that it grew out of the one before."""
    async with mnemon.database.transaction(caller.tenant_id) as connection:
        place = caller.tenant_id, asked.origin, asked.legal_entity
        found = await kept_since(connection, *place, int(asked.since), asked.limit)
    return WitnessedList(checkpoints=[_shown(one) for one in found])


def _shown(one: WitnessedCheckpoint) -> WitnessedOut:
    return WitnessedOut(
        sequence=str(one.sequence),
        root=one.root.hex(),
        public_key=one.public_key,
        checkpoint=one.checkpoint,
        path=one.path,
        kept_at=one.kept_at,
    )
