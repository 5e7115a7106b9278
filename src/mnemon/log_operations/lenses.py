"""What a user may do with lenses: see how each stands, make one anew, compare one with the log."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from mnemon.errors import Conflict, NotFound
from mnemon.identity.roles import Action
from mnemon.log_operations.fields import NO_TOOLS, Parts
from mnemon.operations import Caller, Input, Output, operation

LensName = Annotated[str, Field(max_length=94, description="The lens, as the list has it.")]
ERRORS = (NotFound, Conflict)


class AllLenses(Input):
    """Nothing to choose."""


class LensAsked(Input):
    """One lens."""

    name: LensName


class LensRebuild(LensAsked):
    """A lens, and from where it is made anew."""

    from_snapshot: bool = Field(True, description="From its last snapshot, if it keeps any.")


class LensOut(Output):
    """How a lens stands."""

    name: str
    lifecycle: Literal["inline", "async"] = Field(description="Written with the events, or soon after.")
    status: Literal["empty", "current", "behind", "outdated", "rebuilding"]
    version: int = Field(description="Of the code.")
    rows_version: int | None = Field(description="Of the code that made the rows; null before the first.")
    tables: list[str]
    behind: int = Field(description="Events that it has not looked at.")
    rebuilt_at: datetime | None
    state_hash: str | None = Field(description="Of the rows after the last rebuild, hexadecimal.")
    done: int = Field(description="Events that a rebuild has replayed.")
    total: int = Field(description="Events that it replays.")


class LensList(Output):
    lenses: list[LensOut]
    total: int


class RebuiltLens(Output):
    """What a rebuild did."""

    lens: str
    events: int = Field(description="Events that were replayed.")
    seconds: float
    state_hash: str = Field(description="Of the new rows, hexadecimal.")


class VerifiedLens(Output):
    """What a comparison found."""

    lens: str
    matches: bool = Field(description="Whether the rows are those that the log gives; if not, rebuild.")
    events: int = Field(description="Events that were replayed.")
    seconds: float
    stored_hash: str = Field(description="Of the rows that serve, hexadecimal.")
    replayed_hash: str = Field(description="Of those that the log gives, hexadecimal.")


@operation("lenses.list", Action.READ_LOG, read_only=True, example={}, absent=NO_TOOLS)
async def listed(mnemon: Parts, caller: Caller, asked: AllLenses) -> LensList:
    """The lenses, and how each stands."""
    found = [LensOut(**one.as_json()) for one in await mnemon.projector.list(caller.tenant_id)]
    return LensList(lenses=found, total=len(found))


@operation("lenses.rebuild", Action.MANAGE_LOG, errors=ERRORS, example={"name": "documents"}, absent=NO_TOOLS)
async def rebuild(mnemon: Parts, caller: Caller, asked: LensRebuild) -> RebuiltLens:
    """Make a lens's rows anew from the log, while the old ones serve."""
    done = await mnemon.projector.rebuild(caller.tenant_id, asked.name, from_snapshot=asked.from_snapshot)
    return RebuiltLens(**done.as_json())


@operation(
    "lenses.verify", Action.MANAGE_LOG, read_only=True, errors=ERRORS, example={"name": "documents"}, absent=NO_TOOLS
)
async def verify(mnemon: Parts, caller: Caller, asked: LensAsked) -> VerifiedLens:
    """Replay the log beside a lens's rows and compare; nothing changes."""
    return VerifiedLens(**(await mnemon.projector.verify(caller.tenant_id, asked.name)).as_json())
