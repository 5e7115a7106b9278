"""Sentences that only tell until when: "Deadline is 29 May.", "You will have it by Friday.", "Frist ist der 29. Mai."

Such a sentence says nothing of its own: without its day only small words and what the sentence before said are left.
"""

import re
from datetime import date

from mnemon.documents.structure.dates import read_dates
from mnemon.semantics.rules.word_lists import words

_LONGEST = 90
# Where a day stands is asked, not which.
_SOME_DAY = date(2000, 1, 1)
_LEADS = frozenset(
    {"by", "before", "until", "till", "within", "no later than", "not later than", "due", "due on", "due by"}
)
_DEADLINE = words("""deadline due frist fällig fälligkeit abgabe abgabefrist abgabetermin stichtag""")
_SMALL = words("""the a an it this that these those they he she you we i him her them us is are be was will shall must
    has have had having needs need to should can done ready finished there for on at of date time target latest so and
    der die das den dem ein eine es dies diese er sie wir ihr ich dafür dazu davon damit ist sind sein wird werden muss
    müssen soll sollen sollte hat haben hast habt zeit fertig erledigt da spätestens am zum bis im und also dann datum
    termin endet läuft""")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


def tells_deadline(sentence: str, before: str) -> bool:
    """Whether a sentence only says until when what stands before it is to be done."""
    if len(sentence) > _LONGEST or sentence.rstrip().endswith("?"):
        return False
    dates = read_dates(sentence, _SOME_DAY, "future")
    if len(dates) != 1:
        return False
    rest = f"{sentence[: dates[0].start]} {sentence[dates[0].end :]}"
    left = {word.lower() for word in _WORD.findall(rest)}
    if dates[0].lead not in _LEADS and not left & _DEADLINE:
        return False
    said = {word.lower() for word in _WORD.findall(before)}
    return left - _SMALL - _DEADLINE - _LEADS <= said


def names_deadline(text: str) -> bool:
    return any(word.lower() in _DEADLINE for word in _WORD.findall(text))
