"""Subjects: what is left of one without the marks of replies and lists, and what its tags say."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

LONGEST = 300
REPLY = re.compile(
    r"\s*(?:re|fwd?|aw|wg|sv|vs|antw|odp|res|ref|tr|rv|enc)(?:\[\d{1,3}\]|\(\d{1,3}\)|\*\d{1,3})?\s*[:：]\s*",
    re.IGNORECASE,
)
TAG = re.compile(r"\s*\[([^\[\]]{1,60})\]\s*(?:[:：]\s*)?")
# The same without brackets: "RESULT: Release 2.0", "Result of [VOTE] Release 2.0".
RESULT_WORDS = re.compile(
    r"\s*(?:result|vote results?|results(?= of)|ergebnis)(?:\s*[:：]\s*|(?: of| der| von)?(?: the)?\s+(?=\[))",
    re.IGNORECASE,
)
VOTE_WORDS = re.compile(r"\s*(?:vote|call for votes|abstimmung)\s*[:：]\s*", re.IGNORECASE)
WAS = re.compile(r"\s*[(\[]\s*was\s*:?\s*(.*)\Z", re.IGNORECASE)
SPACES = re.compile(r"\s+")
RESULT_TAG = re.compile(
    r"results?|cancel+(?:ed)?|passed|failed|withdrawn|vote[ -]results?|result of (?:the )?vote|closed|ergebnis",
    re.IGNORECASE,
)
VOTE_TAG = re.compile(r"vote|poll|ballot|call for votes|lazy consensus|abstimmung|umlaufbeschluss", re.IGNORECASE)


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
        elif found := RESULT_WORDS.match(rest):
            is_result = True
        elif found := VOTE_WORDS.match(rest):
            is_vote = True
        elif found := TAG.match(rest):
            is_result = is_result or RESULT_TAG.fullmatch(found[1].strip()) is not None
            is_vote = is_vote or VOTE_TAG.fullmatch(found[1].strip()) is not None
        else:
            break
        rest = rest[found.end() :]
    was = WAS.search(rest)
    if is_result and was and not rest[: was.start()].strip():
        # A result that is called by its vote alone: "[RESULT] (was: [VOTE] Release 2.0)".
        return replace(parse_subject(was[1].rstrip(")] ")), is_reply=is_reply, is_result=True)
    rest = WAS.sub("", rest)
    return ParsedSubject(SPACES.sub(" ", rest).strip().casefold(), is_reply, is_vote, is_result)
