"""What stands around a message in its discussion: whom it answers, and what its sender wrote before."""

from dataclasses import dataclass
from typing import Literal

from mnemon.mail.consensus.discussion import DiscussedMessage, Discussion

# Who wrote what is answered: whoever opened the discussion, the sender, or another.
AnsweredSender = Literal["caller", "self", "member"]


@dataclass(frozen=True, slots=True)
class Situation:
    """`answered` is what the parent's sender wrote in it, `earlier` what this sender wrote last: "" where nothing."""

    subject: str
    is_opener: bool = False
    answered: str = ""
    answered_by: AnsweredSender = "member"
    earlier: str = ""


def situation_of(message: DiscussedMessage, discussion: Discussion) -> Situation:
    parent = discussion.by_id.get(message.parent) if message.parent else None
    earlier = discussion.earlier_of.get(message.message_id)
    return Situation(
        discussion.subject,
        message.speaker == discussion.opener,
        parent.own_words if parent else "",
        _who(parent, message, discussion) if parent else "member",
        earlier.own_words if earlier and earlier is not parent else "",
    )


def _who(parent: DiscussedMessage, message: DiscussedMessage, discussion: Discussion) -> AnsweredSender:
    if parent.speaker == message.speaker:
        return "self"
    return "caller" if parent.speaker == discussion.opener else "member"
