"""An event in its place, and a link between two of them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from mnemon.semantics.semantic_event import SemanticEvent

if TYPE_CHECKING:
    from mnemon.models.minilm.graph import Float32s

EventLinkKind = Literal["supersedes", "fulfils", "depends_on"]
LINK_KINDS: tuple[EventLinkKind, ...] = ("supersedes", "fulfils", "depends_on")
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Placed:
    """An event with what places it: when it was said, in which document, and when that came to us."""

    event: SemanticEvent
    said_at: datetime
    document: str
    revision_id: str = ""
    # Settles what was said on the same day, as two revisions of the same minutes were.
    came_at: datetime = _NEVER
    # Of its narrative and subject, of length one, where an embedder is at hand.
    vector: "Float32s | None" = field(default=None, repr=False, compare=False)

    @cached_property
    def words(self) -> str:
        return " ".join(evidence.quote for evidence in self.event.evidence)


def told_at(event: SemanticEvent, written: datetime | None, until: datetime | None = None) -> datetime | None:
    """When an event was said, as far as its order among others goes: what is to come was said before it came. A text
    that goes over many days was written `until` the last of them."""
    if event.event_time and written:
        return min(event.event_time, max(written, until or written))
    return event.event_time or written


@dataclass(frozen=True)
class EventLink:
    """Both events keep their own evidence; the reason says which words tie them."""

    kind: EventLinkKind
    later: str
    earlier: str
    reason: str
    # Not sure enough to end anything: a person is asked.
    suggested: bool = False
