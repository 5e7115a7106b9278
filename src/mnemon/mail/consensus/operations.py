"""What a user may ask about the consensus of a thread, declared once for all doors."""

from typing import Annotated, Protocol

from pydantic import Field

from mnemon.db.database import Database
from mnemon.documents.access import Reader, read_as
from mnemon.errors import NotFound
from mnemon.identity.roles import Action
from mnemon.mail.consensus.outputs import ConsensusShown
from mnemon.mail.consensus.shown import show_consensus
from mnemon.operations import Caller, Input, operation


class ConsensusAsked(Input):
    """One thread."""

    thread: Annotated[str, Field(min_length=1, max_length=600)] = Field(
        description="Its id, its key, or the Message-ID of any message in it."
    )


class ConsensusParts(Protocol):
    """What the operation needs of Mnemon."""

    @property
    def database(self) -> Database: ...


@operation(
    "mail.consensus", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound,),
    example={"thread": "<20231015120000.XYZ789@example.com>"},
)  # fmt: skip
async def consensus(mnemon: ConsensusParts, caller: Caller, asked: ConsensusAsked) -> ConsensusShown:
    """What a thread agreed or disputed: votes, stances and objections, each with the words that say so."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, Reader.of(caller.actor))
        return await show_consensus(tx, asked.thread)
