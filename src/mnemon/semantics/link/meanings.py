"""The words of a text by what they mean, English and German, and those that mean nothing in particular."""

import re
from functools import lru_cache

from mnemon.documents.structure.calendar_words import MONTHS, WEEKDAYS
from mnemon.semantics.learned.gloss import english
from mnemon.semantics.link.wording import content_words

WORD = re.compile(r"[^\W_][\w’'-]*")
MONTH_WORDS = content_words(" ".join(MONTHS))
CALENDAR = MONTH_WORDS | content_words(" ".join(WEEKDAYS))
# Two sentences that share one of these speak of nothing in common.
_SLIGHT_WORDS = (
    "only now also still just very more most less much many new again all every always never each other another same"
    " both here there then later soon today already yet even once well good next last first nur noch auch jetzt neu"
    " decide decided decision agree agreed resolve resolved resolution use used using choose chose chosen pick picked"
    " beschluss beschlossen entscheidung entschieden einigung"
)
SLIGHT = content_words(_SLIGHT_WORDS)
# German words that every sentence has; the English ones are left out by `content_words`.
GERMAN_STOP = content_words(
    "der die das den dem des ein eine einen einem einer und oder aber auch noch nur schon doch wieder nicht kein keine"
    " ich du er sie es wir ihr uns euch mir mich dir dich sich ihm ihn ihnen ist sind war waren wird werden wurde hat"
    " haben hatte habe hab kann können soll sollen muss müssen bis ab am an auf aus bei für im in mit nach seit über um"
    " unter vom von vor zu zum zur so dann da dass weil wenn als wie erst jetzt nun heute heut morgen gestern bitte mal"
    " ja nein alle alles mehr sehr get gets got go goes going done make makes take takes week month year day"
)


@lru_cache(maxsize=8192)
def meanings(text: str) -> frozenset[str]:
    """The words of a quote in their plain form, German ones by what they mean. English texts are full of "not", "was"
    and "will", which are German words too: what says nothing in English means nothing here."""
    german = (meaning for word in WORD.findall(text) if content_words(word) and (meaning := english(word)))
    return content_words(text) | content_words(" ".join(german))


# The same with what a reader of German takes them for.
SLIGHT_MEANT = meanings(_SLIGHT_WORDS)
