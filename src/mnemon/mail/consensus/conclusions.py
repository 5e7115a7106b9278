"""What a chair or release manager concluded, in their own words. It stands above what is inferred from others."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mnemon.mail.consensus import vote_words as like
from mnemon.mail.consensus.discussion import DiscussedMessage, Discussion
from mnemon.mail.consensus.said import SaidSentence, sentences_of
from mnemon.mail.consensus.stances import SURE_ENOUGH, StanceStatement

Concluded = Literal["passed", "failed", "cancelled", "no_consensus"]

CANCELLED = re.compile(
    r"\bcancel+(?:ed|ing|s)?\b[^.!?]{0,30}\bvote|\bvote\b[^.!?]{0,30}\bcancel+ed|\bcancel (?:this|the) vote|"
    r"\bvote (?:is )?(?:withdrawn|abandoned|stopped|called off)|\b(?:withdraw|abandon|call(?:ing)? off) (?:this|the) "
    r"(?:vote|release|candidate|motion)",
    re.IGNORECASE,
)
NO_CONSENSUS = re.compile(
    r"\bno (?:rough |clear |real )?consensus\b|\b(?:not|n't|n’t) (?:see|have|reach\w*|find) (?:any |a |"
    r"rough |clear |strong |sufficient |enough )*(?:consensus|support|agreement)|"
    r"\black of consensus|\bconsensus (?:was|is|has) not\b|\bopinions are (?:divided|split)|\bkeinen? konsens|"
    r"\bno agreement\b",
    re.IGNORECASE,
)
FAILED = re.compile(
    r"\b(?:vote|motion|proposal|amendment|request|ballot)\b[^.!?]{0,30}\b(?:fail(?:s|ed)?|lost|rejected|defeated|"
    r"declined)\b|"
    r"\bdoes not pass\b|\bdid not pass\b|\bnot (?:approved|accepted|adopted|granted|carried|merged|published)\b|"
    r"\b(?:is|are|was|been|result:?|hereby) (?:rejected|declined|denied|refused)\b|\A\W*(?:rejected|declined|failed)\b|"
    r"\b(?:returned|goes back|sent back) to (?:the )?(?:working group|wg|authors?|list)|\babgelehnt\b|\b(?:we|"
    r"i) won't (?:do|merge|"
    r"adopt|publish)\b|\bnot going to (?:merge|adopt|publish|do)\b",
    re.IGNORECASE,
)
PASSED = re.compile(
    r"\b(?:vote|motion|proposal|amendment|cfc|ballot|election|release)\b[^.!?]{0,40}\b(?:pass(?:es|ed)|carrie[sd]|"
    r"succeed(?:s|ed)?|"
    r"approved|accepted|adopted|successful)\b|\b(?:is|are|was|been|stands|hereby) (?:approved|accepted|adopted|carried|"
    r"elected|merged|agreed|decided|passed)\b|\A\W*(?:passed|approved|accepted|adopted|carried|agreed|elected|result: "
    r"(?:passed|approved|accepted))\b|\b(?:we|i|chairs?|there) (?:\w+ )?(?:see|sees|saw|judge|judges|declare|"
    r"declares|call|calls|find|finds|have|has|is|was|are|"
    r"believe|conclude|consider)\b[^.!?]{0,40}\b(?:consensus|clear support|strong support|agreement|"
    r"sufficient support)\b|"
    r"\b(?:rough )?consensus (?:to|for|on|is|in favou?r|that)\b|\bno objections? (?:were |was )?(?:raised|"
    r"received|heard)|"
    r"\b(?:ready to|will|we'll) (?:be )?(?:promote|publish|release) the (?:artifacts|release)|\bangenommen\b|"
    r"\bbeschlossen\b|"
    r"\bin the rough\b",
    re.IGNORECASE,
)
# What is asked for, wished or laid down is not concluded.
NOT_YET = re.compile(
    r"\?\s*\Z|\b(?:if|unless|whether|until|when|once|would|should|could|hope|need(?:s|ed)?|to reach|please|"
    r"passes if|call for|"
    r"falls|wenn|not yet|noch nicht)\b",
    re.IGNORECASE,
)
REFUSES = re.compile(
    r"\b(?:not|no|n't|n’t|never|against|refuse\w*|reject\w*|decline\w*|drop\w*|nak|nicht|kein\w*|dagegen)\b|n['’]t\b",
    re.IGNORECASE,
)
# "As I did not hear any -1 the vote passes" denies another thing: only a word or two may stand between.
DENIED_BEFORE = re.compile(r"(?:\b(?:not(?! only)|never|cannot|nicht(?! nur))|n['’]t)(?: \w+){0,2}\s*\Z", re.IGNORECASE)
DENIED_WITHIN = re.compile(
    r"(?:\b(?:not(?! only)|never|cannot|nicht(?! nur))|n['’]t)(?: \w+)? \w+\Z|"
    r"\bno (?:\w+ )?(?:consensus|support|agreement)\Z",
    re.IGNORECASE,
)
AGREEMENT = re.compile(r"consensus|support|agreement", re.IGNORECASE)
CANCEL_TAG = re.compile(r"\[\s*(?:cancel+(?:ed)?|withdrawn)\s*\]", re.IGNORECASE)
FAIL_TAG = re.compile(r"\[\s*failed\s*\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What was concluded, by whom, and the words of it."""

    message_id: str
    speaker: str
    concluded: Concluded
    start: int
    end: int
    quote: str


def concludes(words: str) -> Concluded | None:
    """What a sentence concludes, whoever says it."""
    if CANCELLED.search(words):
        return "cancelled"
    if NOT_YET.search(words):
        return None
    if NO_CONSENSUS.search(words) and not re.search(r"\brough consensus (?:for|to|on)\b", words, re.IGNORECASE):
        return "no_consensus"
    if FAILED.search(words):
        return "failed"
    found = PASSED.search(words)
    if found is None:
        return None
    if not _is_denied(words, found):
        return "passed"
    return "no_consensus" if AGREEMENT.search(found[0]) else "failed"


def _is_denied(words: str, found: re.Match[str]) -> bool:
    """ "The vote has not passed", "I don't believe there is consensus", "there is no clear support"."""
    before = words[: found.start()]
    return DENIED_BEFORE.search(before) is not None or DENIED_WITHIN.search(found[0]) is not None


def conclusion_of(discussion: Discussion, statements: Sequence[StanceStatement] = ()) -> Conclusion | None:
    """The last one that somebody made who may: in plain words, else in words that the reader takes for one."""
    read = {one.message_id: one for one in statements if one.stance == "conclude" and one.confidence >= SURE_ENOUGH}
    found: Conclusion | None = None
    for place, message in enumerate(discussion.messages):
        if place == 0 or not _may_conclude(message, discussion):
            continue
        found = _in_message(message) or _as_read(read.get(message.message_id)) or found
    return found


def _may_conclude(message: DiscussedMessage, discussion: Discussion) -> bool:
    if message.parsed_subject.is_result and not message.parsed_subject.is_reply:
        return True
    return message.speaker in (discussion.chairs or {discussion.opener})


def _in_message(message: DiscussedMessage) -> Conclusion | None:
    said = sentences_of(message.text, message.spans)
    is_result = message.parsed_subject.is_result and not message.parsed_subject.is_reply
    by_tag: Concluded | None = None
    if is_result and (CANCEL_TAG.search(message.subject) or FAIL_TAG.search(message.subject)):
        by_tag = "cancelled" if CANCEL_TAG.search(message.subject) else "failed"
    for sentence in said:
        if concluded := concludes(sentence.words):
            return _conclusion(message, sentence, by_tag or concluded)
    if is_result and said:
        # A result that names no outcome tells it by its tag and its tally.
        against = any(found["value"].startswith("-") for found in like.TALLY_LINE.finditer(message.text))
        return _conclusion(message, said[0], by_tag or ("no_consensus" if against else "passed"))
    return None


def _as_read(statement: StanceStatement | None) -> Conclusion | None:
    if statement is None or CANCELLED.search(statement.quote):
        return None
    concluded: Concluded = "failed" if REFUSES.search(statement.quote) else "passed"
    return Conclusion(
        statement.message_id, statement.speaker, concluded, statement.start, statement.end, statement.quote
    )


def _conclusion(message: DiscussedMessage, said: SaidSentence, concluded: Concluded) -> Conclusion:
    return Conclusion(message.message_id, message.speaker, concluded, said.start, said.end, said.words)
