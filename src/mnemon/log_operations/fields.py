"""What the log's operations have in common: the parts they need, their usual fields, the doors they leave out."""

from collections.abc import Mapping
from typing import Annotated, Any, Protocol

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from mnemon.db.database import Database
from mnemon.errors import InvalidRequest
from mnemon.identity.roles import user_actor_id
from mnemon.inputs import MOMENT
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.project.entity_states import EntityStates
from mnemon.log.project.projector import Projector
from mnemon.log.proof.integrity import Integrity
from mnemon.log.read.query import read_position
from mnemon.log.store import EventLog
from mnemon.operations import Caller, Door, Output

EVENT_ID = "01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B"
NO_TOOLS: Mapping[Door, str] = {
    "mcp": "Every tool costs every agent a part of its attention; they work with documents, events and memory.",
}
BY_PROGRAMS: Mapping[Door, str] = {**NO_TOOLS, "command": "Programs ask this over REST."}

SequenceNumber = Annotated[str, Field(pattern=r"^[0-9]{1,18}$")]
EventId = Annotated[str, Field(max_length=100, description="The event's id.")]
# Where something is looked for: it need not be a name that could be recorded.
Where = Annotated[str, Field(max_length=100, description="The legal entity, whose log is a partition.")]


class FromRecord(Output):
    """Read from a value of the same fields."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)


class Parts(Protocol):
    """What operations on the log need of Mnemon."""

    @property
    def database(self) -> Database: ...

    @property
    def log(self) -> EventLog: ...

    @property
    def privacy(self) -> Privacy: ...

    @property
    def projector(self) -> Projector: ...

    @property
    def entity_states(self) -> EntityStates: ...

    @property
    def integrity(self) -> Integrity: ...


def person_of(caller: Caller) -> str:
    """The person counts, not the credential: nobody approves their own request through a token of theirs."""
    return caller.actor.id if caller.principal is None else user_actor_id(caller.principal.user_id)


def _position(value: Any) -> Any:
    if value is None or value == "":
        return None
    try:
        return read_position(str(value))
    except InvalidRequest as refusal:
        raise PydanticCustomError("position", "{says}", {"says": refusal.message}) from None


# A sequence or a recorded moment.
AsOf = Annotated[Any, BeforeValidator(_position), MOMENT]
