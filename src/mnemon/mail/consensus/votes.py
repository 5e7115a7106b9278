"""Votes in a message: values that its sender casts, never those on a template, in a quotation or spoken of."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mnemon.mail.consensus import vote_words as like
from mnemon.mail.consensus.discussion import DiscussedMessage, Discussion
from mnemon.mail.consensus.said import SaidSentence, sentences_of

# A value, a ticked ballot, a word where words were asked for, or words that amount to one.
VoteKind = Literal["value", "ballot", "word", "implicit"]


@dataclass(frozen=True, slots=True)
class Vote:
    """What a person voted and the words that say so. A later vote of the same person changes it."""

    message_id: str
    speaker: str
    name: str
    # "+1", "-0.5", "0"; "" where the person only took a vote back.
    value: str
    # None where nothing says whether it binds.
    binding: bool | None
    kind: VoteKind
    start: int
    end: int
    quote: str
    changed: bool = False

    @property
    def weight(self) -> float:
        return float(self.value.replace(",", ".") or 0)

    @property
    def against(self) -> bool:
        return self.value.startswith("-")


def votes_of(discussion: Discussion) -> list[Vote]:
    """Every vote in order; those that their person changed or took back later are marked."""
    cast: list[Vote] = []
    for message in discussion.messages:
        cast += _votes_in(message, discussion)
    last = {vote.speaker: place for place, vote in enumerate(cast)}
    return [replace(vote, changed=last[vote.speaker] != place) for place, vote in enumerate(cast)]


def standing_votes(votes: Sequence[Vote]) -> list[Vote]:
    """One for each voter: the last that they cast and did not take back."""
    return [vote for vote in votes if not vote.changed and vote.value]


def asks_for_values(discussion: Discussion) -> bool:
    """Whether the call speaks of "+1"; where it does not, words such as "yes" are votes."""
    return bool(discussion.messages) and re.search(r"[+]\s?1\b", discussion.messages[0].text) is not None


def _votes_in(message: DiscussedMessage, discussion: Discussion) -> list[Vote]:
    if message.parsed_subject.is_result and not message.parsed_subject.is_reply:
        return []
    said = sentences_of(message.text, message.spans)
    ballot = _of_ballot(message)
    spoken = [vote for sentence in said for vote in _in_sentence(message, sentence, discussion.is_vote)]
    if ballot or spoken:
        return _without_templates(message, [*ballot, *spoken])
    if not discussion.is_vote or message is discussion.messages[0]:
        return []
    return list(_in_words(message, said, asks_for_values(discussion)))[:1]


def _without_templates(message: DiscussedMessage, found: list[Vote]) -> list[Vote]:
    """Values that stand below each other, each on a line of its own, are what one may choose from."""
    starts = [vote for vote in found if vote.kind == "value" and _begins_line(message.text, vote.start)]
    if len({vote.against for vote in starts}) > 1:
        return [vote for vote in found if vote not in starts][-1:]
    valued = [vote for vote in found if vote.value]
    return valued[-1:] or found[-1:] if len(valued) < len(found) else _settled(found)


def _settled(found: list[Vote]) -> list[Vote]:
    """What is said first counts, unless another value is said later on purpose: "changing to -1"."""
    return found[:1] if len({vote.value for vote in found}) == 1 else found[-1:] if _changes(found) else found[:1]


def _changes(found: list[Vote]) -> bool:
    return (
        re.search(r"\b(?:chang|mak|upgrad|downgrad|turn|änder)\w*\b|->|→", found[-1].quote, re.IGNORECASE) is not None
    )


def _begins_line(text: str, start: int) -> bool:
    return not text[text.rfind("\n", 0, start) + 1 : start].strip(like.MARKUP + "-•")


def _in_sentence(message: DiscussedMessage, sentence: SaidSentence, is_vote: bool) -> Iterator[Vote]:
    words = sentence.words
    if is_vote and (like.BARE_ZERO.match(words) or like.AT_ZERO.search(words)):
        yield _vote(message, sentence, "0", 1, "value")
        return
    found = list(like.VALUE.finditer(words))
    has_cast = False
    for match in found:
        before, after = words[: match.start()], words[match.end() :]
        value = _value(match)
        if like.TAKEN_BACK.search(before) or like.IS_GONE.match(after):
            if not any(other.start() > match.start() for other in found):
                yield _vote(message, sentence, "", match.end(), "value")
        elif _is_cast(before, after, has_cast) and (is_vote or not like.TO_SOMETHING.match(after)):
            has_cast = True
            yield _vote(message, sentence, value, match.end(), "value")


def _is_cast(before: str, after: str, has_cast: bool) -> bool:
    plain = like.WHOSE.sub("", before.rstrip(like.MARKUP + "(")).rstrip(like.MARKUP)
    if like.COUNTS_ON.match(after) or like.FROM_VALUE.match(after) or like.SOMEBODYS.search(plain):
        return False
    if like.CONDITIONAL.search(plain) or plain.count("(") > plain.count(")"):
        return False
    if not plain.strip() or like.NAMED.search(plain):
        return True
    if like.SPOKEN_OF.search(plain) or (has_cast and not re.search(r"\bto\Z", plain)):
        return False
    return like.LEADS_IN.search(plain) is not None


def _value(match: re.Match[str]) -> str:
    sign = "+" if match["sign"] in "+＋" else "-"
    number = match["number"].replace(",", ".")
    return sign + ("1" if number.startswith("10") else number.removesuffix(".0"))


def _vote(message: DiscussedMessage, sentence: SaidSentence, value: str, at: int, kind: VoteKind) -> Vote:
    return Vote(
        message.message_id,
        message.speaker,
        message.shown_name,
        value,
        _binding(sentence.words, at),
        kind,
        sentence.start,
        sentence.end,
        sentence.words,
    )


def _binding(words: str, at: int) -> bool | None:
    after, before = words[at : at + like.NEAR], words[max(at - like.NEAR, 0) : at]
    if like.NOT_BINDING.search(after) or like.NOT_BINDING.search(before):
        return False
    return True if like.BINDING.search(after) or like.BINDING.search(before) else None


def _of_ballot(message: DiscussedMessage) -> list[Vote]:
    """The line that was ticked; where several were, nobody knows which one was meant."""
    lines = [line for span in message.spans if span.label == "ballot" for line in _lines(message, span.start, span.end)]
    ticked = [vote for line in lines if like.FILLED.search(line.words) and (vote := _ticked(message, line))]
    if not ticked:
        boxed = [(line, found) for line in lines if (found := like.BOXED.search(line.words))]
        ticked = [_vote(message, line, found["value"], found.end(), "ballot") for line, found in boxed]
    return ticked if len({vote.value for vote in ticked}) == 1 else []


def _ticked(message: DiscussedMessage, line: SaidSentence) -> Vote | None:
    if found := like.VALUE.search(line.words):
        return _vote(message, line, _value(found), found.end(), "ballot")
    for pattern, value in ((like.BALLOT_ABSTAIN, "0"), (like.BALLOT_NO, "-1"), (like.BALLOT_YES, "+1")):
        if found := pattern.search(line.words):
            return _vote(message, line, value, found.end(), "ballot")
    bare = re.search(r"\b0\b", line.words)
    return _vote(message, line, "0", bare.end(), "ballot") if bare else None


def _lines(message: DiscussedMessage, start: int, end: int) -> Iterator[SaidSentence]:
    for match in re.finditer(r"\S[^\n]*", message.text[start:end]):
        yield SaidSentence(start + match.start(), start + match.end(), match[0])


def _in_words(message: DiscussedMessage, said: Sequence[SaidSentence], by_value: bool) -> Iterator[Vote]:
    for sentence in said:
        words = sentence.words
        if not by_value and not sentence.answered:
            for pattern, value in ((like.SAYS_ABSTAIN, "0"), (like.SAYS_YES, "+1"), (like.SAYS_NO, "-1")):
                if found := pattern.match(words):
                    yield _vote(message, sentence, value, found.end(), "word")
            if found := like.STIMMT.search(words):
                yield _vote(message, sentence, "+1" if found["yes"] else "-1", found.end(), "word")
        found = like.IMPLICIT_YES.search(words)
        if found and not like.NOT_IMPLICIT.search(words):
            yield _vote(message, sentence, "+1", found.end(), "implicit")
