"""The sentences that a sender wrote in a message, each with what it answers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mnemon.documents.structure.sentences import Span, sentences, trimmed
from mnemon.mail.spans.labels import LabelledSpan

# Of a quotation the end is what is answered.
MOST_ANSWERED = 400
# In text whose lines are all shorter than this each line stands for itself.
NARROW = 40
LINE_MARKS = re.compile(r"^[ \t>|]+", re.MULTILINE)
FIRST_WORD = re.compile(r"\s*(\S+)")
# A sentence that goes on in small letters has as many letters before that at least.
SHORT_LINE = 20
SENTENCE_END = re.compile(r"[.!?:;…][\"'”’)\]*_]*[ \t]*\Z")
# An item of a list, or a name with its value.
NEW_LINE = re.compile(r"[-+*•–—](?=\s)|[>#|\[]|\(?\d{1,2}[.)]\s|[A-ZÄÖÜ][^\s:]*(?: [^\s:]+){0,2}:(?=\s)")
GREETING = re.compile(
    r"(?:hi|hello|hey|dear|hallo|liebe|lieber|moin|guten (?:tag|morgen|abend)|good (?:morning|evening|"
    r"day))\b[^.!?]{0,40}"
    r"[,!.:]?|(?:all|folks|everyone|colleagues),",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SaidSentence:
    """`text[start:end]` of a message. `answered` is the end of the quotation above it, "" where there is none."""

    start: int
    end: int
    words: str
    answered: str = ""


def sentences_of(text: str, spans: Sequence[LabelledSpan]) -> list[SaidSentence]:
    """In order; of new text only. Greetings say nothing and are left out."""
    found: list[SaidSentence] = []
    answered = ""
    for span in spans:
        if span.label == "quote" and span.depth <= 1:
            answered = LINE_MARKS.sub("", text[span.start : span.end]).strip()[-MOST_ANSWERED:]
        elif span.label == "new":
            for start, end in _sentences(text, span.start, span.end):
                words = text[start:end]
                if not GREETING.fullmatch(words):
                    found.append(SaidSentence(start, end, words, answered))
    return found


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    width = max((len(line) for line in text[start:end].split("\n")), default=0)
    for first, last in sentences(text, start, end):
        begin = first
        for border in range(first, last):
            if text[border] == "\n" and _is_hard(text, begin, border, last, width):
                if piece := trimmed(text, begin, border):
                    yield piece
                begin = border + 1
        if piece := trimmed(text, begin, last):
            yield piece


def _is_hard(text: str, begin: int, border: int, last: int, width: int) -> bool:
    """Whether a line ends because its writer ended it: the next word would have had room in it, and does not go on with
    a sentence."""
    following = FIRST_WORD.match(text, border, last)
    if following is None:
        return width <= NARROW
    start = text.rfind("\n", 0, border) + 1
    if _goes_on(text, start, border, following.start(1), width):
        return False
    line = max(start, begin)
    return width <= NARROW or border - line + 1 + len(following[1]) < width - 2


def _goes_on(text: str, start: int, border: int, following: int, width: int) -> bool:
    """Whether the sentence goes on in the next line: nothing ends it, and that line begins in small letters, or the one
    before it is about as long as the others."""
    length = border - start
    if SENTENCE_END.search(text, start, border) or NEW_LINE.match(text, following):
        return False
    return length >= (SHORT_LINE if text[following].islower() else max(NARROW, 3 * width // 4))
