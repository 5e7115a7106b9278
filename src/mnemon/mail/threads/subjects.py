"""Subjects: what is left of one without the marks of replies and lists, and what its tags say."""

import re
from dataclasses import dataclass
from functools import lru_cache

LONGEST = 300
REPLY = re.compile(
    r"\s*(?:re|fwd?|aw|wg|sv|vs|antw|odp|res|ref|tr|rv|enc)(?:\[\d{1,3}\]|\(\d{1,3}\)|\*\d{1,3})?\s*[:：]\s*",
    re.IGNORECASE,
)
TAG = re.compile(r"\s*\[([^\[\]]{1,60})\]\s*")
WAS = re.compile(r"\s*[(\[]\s*was\s*:?.*\Z", re.IGNORECASE)
SPACES = re.compile(r"\s+")
RESULT_TAG = re.compile(
    r"results?|cancel+ed|passed|failed|withdrawn|vote results?|result of vote|closed", re.IGNORECASE
)
VOTE_TAG = re.compile(r"vote|poll|ballot|call for votes|lazy consensus", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ParsedSubject:
    """`base` is what two messages of one discussion share."""

    base: str
    is_reply: bool
    is_vote: bool
    is_result: bool


@lru_cache(maxsize=4_000)
def parse_subject(subject: str) -> ParsedSubject:
    """Marks of replies and tags may stand before each other in any order: "Re: [list] Re: [VOTE] …"."""
    rest, is_reply, is_vote, is_result = subject[:LONGEST], False, False, False
    while True:
        if found := REPLY.match(rest):
            is_reply = True
        elif found := TAG.match(rest):
            is_result = is_result or RESULT_TAG.fullmatch(found[1].strip()) is not None
            is_vote = is_vote or VOTE_TAG.fullmatch(found[1].strip()) is not None
        else:
            break
        rest = rest[found.end() :]
    rest = WAS.sub("", rest)
    return ParsedSubject(SPACES.sub(" ", rest).strip().casefold(), is_reply, is_vote, is_result)
