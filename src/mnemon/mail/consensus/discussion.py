"""A discussion as consensus is read from it: who said what, in answer to whom."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from mnemon.mail.spans.labels import LabelledSpan
from mnemon.mail.threads.subjects import ParsedSubject, parse_subject

CALLS_VOTE = re.compile(
    r"\b(?:please vote|vote (?:here|by|now|on this|is open)|(?:members|admins|everybody|everyone) (?:please )?vote|"
    r"voting (?:by|is|closes|ends|runs|opens)|call(?:s|ing)? (?:for )?(?:a|the) vote|this is a vote|cast your vote|"
    r"bitte (?:um )?abstimm\w*|wir stimmen ab|umlaufbeschluss)\b",
    re.IGNORECASE,
)
# Somebody wants to know something: nothing is proposed that others could object to.
ASKS_FOR_HELP = re.compile(
    r"(?:how (?:do|does|can|could|to)|why (?:do|does|did|is|are)|where (?:do|does|is|are|can)|"
    r"what (?:is|are|does|do you|happens)|(?:has )?any(?:one|body) (?:else )?(?:know|seen|using)|"
    r"wie (?:mach|kann|geht|bekomm)\w*|warum|wo (?:ist|sind|finde)\w*|weiß jemand)\b",
    re.IGNORECASE,
)
NAMES_VOTE = re.compile(r"\b(?:vote|voting|ballot|poll|abstimmung|umlaufbeschluss)\b", re.IGNORECASE)


@dataclass(frozen=True)
class DiscussedMessage:
    """One message. `speaker` is the same for all addresses and spellings of one person."""

    message_id: str
    speaker: str
    name: str
    subject: str
    date: datetime | None
    text: str
    spans: Sequence[LabelledSpan] = field(repr=False)
    # The message that it answers.
    parent: str | None = None

    @cached_property
    def parsed_subject(self) -> ParsedSubject:
        return parse_subject(self.subject)

    @property
    def shown_name(self) -> str:
        return self.name or self.speaker

    @cached_property
    def own_words(self) -> str:
        """What its sender wrote in it, without quotations, signatures and the like."""
        return " ".join(self.text[span.start : span.end].strip() for span in self.spans if span.label == "new")


@dataclass(frozen=True)
class Discussion:
    """Messages by date. Who may conclude it is known where the list says so; else whoever opened it is heard."""

    subject: str
    messages: tuple[DiscussedMessage, ...]
    chairs: frozenset[str] = frozenset()

    @property
    def opener(self) -> str | None:
        return self.messages[0].speaker if self.messages else None

    @cached_property
    def is_vote(self) -> bool:
        """Whether a vote was called: by the subject, by a ballot in the first message, or in its words."""
        first = self.messages[0] if self.messages else None
        if first is None:
            return False
        return (
            first.parsed_subject.is_vote
            or NAMES_VOTE.search(first.subject) is not None
            or any(span.label == "ballot" for span in first.spans)
            or CALLS_VOTE.search(first.own_words) is not None
        )

    @cached_property
    def asks_for_help(self) -> bool:
        """Whether its subject is a question about how things are, not about what to do."""
        first = self.messages[0] if self.messages else None
        return first is not None and not self.is_vote and ASKS_FOR_HELP.match(first.parsed_subject.base) is not None

    @cached_property
    def by_id(self) -> dict[str, DiscussedMessage]:
        return {message.message_id: message for message in self.messages}

    @cached_property
    def earlier_of(self) -> dict[str, DiscussedMessage]:
        """For each message the one that its sender wrote before it, where there is one."""
        last: dict[str, DiscussedMessage] = {}
        found: dict[str, DiscussedMessage] = {}
        for message in self.messages:
            if message.speaker in last:
                found[message.message_id] = last[message.speaker]
            last[message.speaker] = message
        return found
