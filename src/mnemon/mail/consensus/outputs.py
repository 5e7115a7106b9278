"""What is told about a thread's consensus, every finding with the words that prove it."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from mnemon.operations import Output


class Said(Output):
    """`body_raw[start:end]` of the message is the quote."""

    message_id: str
    message_key: str
    doc_version_id: UUID
    name: str
    email: str
    date: datetime | None
    start: int
    end: int
    quote: str


class StatementShown(Said):
    """What somebody said to the matter."""

    stance: str
    confidence: float
    found_by: str = Field(description="vote, formula (fixed words) or learned.")


class VoteShown(Said):
    """A vote. One that its voter changed or took back later is kept, and counts no more."""

    value: str
    binding: bool | None = Field(description="null where nothing says whether it binds.")
    kind: str = Field(description="value, ballot, word; implicit: approval without a value.")
    changed: bool


class ObjectionShown(Said):
    """An objection and what became of it: open, answered, met or withdrawn."""

    state: str
    resolved: bool
    found_by: str = Field(description="vote, formula (fixed words) or learned: the words only read as an objection.")
    settled_by: Said | None
    answered_in: list[str] = Field(description="Ids of the messages that answered it.")


class ConclusionShown(Said):
    """What a chair or release manager concluded: passed, failed, cancelled or no_consensus."""

    concluded: str


class ConsensusShown(Output):
    """What a thread came to."""

    thread_id: str
    thread_key: str
    list_name: str
    subject: str
    has_consensus: bool
    consensus_type: str = Field(description="agreement, dissent, mixed or none.")
    confidence: float
    conclusion: ConclusionShown | None
    tally: dict[str, int] = Field(description="How many votes of each value stand.")
    votes: list[VoteShown]
    objections: list[ObjectionShown]
    unresolved: int = Field(description="Objections that nobody met and nobody withdrew.")
    statements: list[StatementShown]
    read_by: str
    read_at: datetime
    is_current: bool = Field(description="Whether no message came since it was read.")
