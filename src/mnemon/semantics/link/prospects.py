"""What an event says by itself that decides whether it may be tied to another, found out once for all comparisons."""

import re
from collections.abc import Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import NamedTuple

from mnemon.semantics.link.days import days_named
from mnemon.semantics.link.pairs import may_pair
from mnemon.semantics.link.placed import LINK_KINDS, Placed
from mnemon.semantics.link.wording import (
    content_words,
    is_negative,
    marks,
    measures,
    naming_numbers,
    values,
    without_measures,
)
from mnemon.semantics.semantic_event import Category

# "Postgres instead of MySQL", "replaces the letter": the later words name what they replace.
_NAMES_OLD = re.compile(
    r"\b(?:instead\s+of|rather\s+than|in\s+place\s+of|replac(?:es|ed|ing)|supersed(?:es|ed|ing)"
    r"|away\s+from|no\s+longer|drop(?:s|ped|ping)?|leav(?:e|es|ing)|abandon(?:s|ed|ing)?|stop(?:s|ped)?\s+using"
    # "80 from tonight" tells since when.
    r"|(?:mov|switch|migrat|chang|shift|swap|convert|chopp?|go|went|slip|rais|ris|rose|reduc|cut|lower|increas|postpon"
    r"|push|extend|brought|bring|transfer|port)\w*\b[^.;,:]{0,40}?\bfrom)"
    # "No longer buy from Brightline" says from whom.
    r"\s+(?P<old>(?:[a-z]+\s+(?:from|by)\s+(?=(?-i:[A-Z])))?"
    r"(?:(?!\s+(?:from|and|by|starting|as\s+of|with\s+effect)\b)[^.;,:]){2,60})",
    re.IGNORECASE,
)
# "No longer buy" names nothing that others could not buy too.
_NO_LONGER = re.compile(r"\bno\s+longer\s+\Z", re.IGNORECASE)
# "Use Postgres instead": a change of mind that does not say of which, and puts one name in the place of another.
_REVERSAL = re.compile(
    r"\b(?:instead|after\s+all|on\s+second\s+thoughts?|changed\s+(?:our|my|its|their)\s+minds?"
    r"|revers(?:e|ed|es|ing)|overturn(?:ed|s)?|revok(?:e|ed|es)|rescind(?:ed|s)?|withdrawn|no\s+longer"
    r"|not\s+any\s?more|anymore|no\s+more|back\s+to|called\s+off|(?:is|are)\s+off)\b",
    re.IGNORECASE,
)
# Words that may turn something round, or only tell how it stands.
_CHANGE_OF_MIND = re.compile(
    r"\b(?:actually|revis(?:ed|it)|reconsider(?:ed)?|correction|new\s+(?:date|deadline|plan)|now)\b", re.IGNORECASE
)
# Of these only one holds at a time, other than of what is hired, visited or bought.
_ONE_CHOICE = re.compile(
    r"\b(?:use|chose|choose|chosen|pick(?:ed)?|select(?:ed)?|hold|host|adopt(?:ed)?|go(?:ing)?\s+with|went\s+with"
    r"|move\s+to|switch\s+to|settled\s+on|opted\s+for|locate|named?|calls?|runs?\s+on|is\s+held|takes\s+place)\b",
    re.IGNORECASE,
)
# "We reversed the decision of 7 September", "der Beschluss vom 7. September wird aufgehoben".
_TAKES_BACK = re.compile(
    r"\b(?:revers|overturn|revok|rescind|withdr|repeal|cancel|undo|undid|annul|scrap|drop|t(?:ake|ook)\s+back)\w*\s+"
    r"(?:the|our|that|this|their)\s+(?:decision|resolution|agreement|vote|choice)\s+(?:of|from|made\s+on|taken\s+on)\s+"
    r"(?P<day>[^,:;.]{3,30}|\d[\d./]{2,9})"
    r"|\b(?:beschlu(?:ss|ß)|beschlusses|entscheidung)\s+vom\s+(?P<tag>\d{1,2}\.\s?(?:\d{1,2}\.|[^\W\d]+))"
    r"(?=.{0,60}\b(?:aufgehoben|heben|zurückgenommen|nehmen|widerrufen|kassiert|hinfällig|gekippt)\b)",
    re.IGNORECASE,
)
# "The decision on the Saturday shifts is withdrawn", "der Beschluss zur Samstagsarbeit ist aufgehoben".
_TOPIC = re.compile(
    r"\b(?:decision|resolution|agreement)\s+(?:on|about|over|regarding|concerning|for|to)\s+(?P<topic>[^.;,:]{3,60}?)"
    r"\s+(?:is|was|has\s+been|were|are)\s+(?:hereby\s+|now\s+)?"
    r"(?:revers|overturn|revok|rescind|withdr|repeal|cancel|annul|scrap|drop|superseded|void|off\b)"
    r"|\b(?:beschluss|beschluß|beschlüsse|entscheidung|regelung)\s+(?:zu[rm]?|über|für|wegen)\s+"
    r"(?P<thema>[^.;,:]{3,60}?)\s+(?:ist|sind|wird|werden|wurde|wurden)\s+(?:hiermit\s+|damit\s+)?"
    r"(?:aufgehoben|zurückgenommen|widerrufen|kassiert|hinfällig|gekippt|vom\s+tisch|gestrichen)",
    re.IGNORECASE,
)
STANDING = frozenset({Category.DECISION, Category.CHANGE})


# What a text says by itself is asked once, however many it is compared with.
@lru_cache(maxsize=4096)
def named_as_old(text: str) -> str | None:
    found = _NAMES_OLD.search(text)
    if found is None or (_NO_LONGER.search(text, 0, found.start("old")) and len(content_words(found["old"])) < 2):
        return None
    return found["old"]


@lru_cache(maxsize=4096)
def reversal(text: str) -> str | None:
    found = _REVERSAL.search(text)
    return found[0] if found else None


@lru_cache(maxsize=4096)
def takes_back(text: str) -> tuple[str, frozenset[tuple[int, int]]] | None:
    """The words that take a decision back by its day, and that day."""
    found = _TAKES_BACK.search(text)
    days = days_named(found["day"] or found["tag"]) if found else frozenset[tuple[int, int]]()
    return (found[0], days) if found and days else None


@lru_cache(maxsize=4096)
def topic_taken_back(text: str) -> str | None:
    """What a decision was about that these words take back."""
    found = _TOPIC.search(text)
    return (found["topic"] or found["thema"]) if found else None


@lru_cache(maxsize=4096)
def change_of_mind(text: str) -> str | None:
    found = _CHANGE_OF_MIND.search(text)
    return found[0] if found else None


@lru_cache(maxsize=4096)
def is_one_choice(text: str) -> bool:
    return _ONE_CHOICE.search(text) is not None and not is_negative(text)


class Prospect(NamedTuple):
    """What an event says by itself that decides whether it can end another, or be ended, by rules of wording at all.
    Most of the pairs of many like events need no closer look than this."""

    category: Category
    turns: bool
    names: tuple[frozenset[str], frozenset[str]]
    unmeasured: frozenset[str] | None
    chooses: bool
    names_old: bool
    due: date | None
    subject_values: frozenset[str]

    @classmethod
    def of(cls, placed: Placed) -> "Prospect":
        words = placed.words
        return cls(
            placed.event.category,
            any(
                told(words) is not None
                for told in (named_as_old, reversal, change_of_mind, takes_back, topic_taken_back)
            ),
            (marks(words), naming_numbers(words)),
            content_words(without_measures(words)) if measures(words) else None,
            is_one_choice(words),
            named_as_old(words) is not None,
            placed.event.due,
            values(placed.event.subject.ref),
        )

    def may_end(self, earlier: "Prospect") -> bool:
        """True wherever `link_between` has something to say."""
        if self.category is Category.EXECUTION:
            return earlier.category is Category.COMMITMENT
        if self.category is Category.COMMITMENT:
            moved = self.due and earlier.due and self.due != earlier.due
            return bool(moved) and self.category is earlier.category and self.subject_values == earlier.subject_values
        if earlier.category is not Category.DECISION or self.category not in STANDING:
            return False
        return (
            self.turns
            or self.names == earlier.names
            or (self.unmeasured is not None and self.unmeasured == earlier.unmeasured)
            or (self.chooses and earlier.chooses)
        )

    def may_undo(self, promise: "Prospect") -> bool:
        """What names the old may end promises to bring that about, whatever it ends besides."""
        return self.names_old and promise.category is Category.COMMITMENT


def place_in_time(placed: Placed) -> tuple[datetime, datetime, int, str]:
    return placed.said_at, placed.came_at, placed.event.evidence[0].start, placed.event.event_id


def in_time(placed: Sequence[Placed]) -> list[Placed]:
    """In the order in which it was said; of what was said at one time, as it came and stands in its text."""
    return sorted(placed, key=place_in_time)


def tied_to(new: Sequence[Placed], known: Sequence[Placed]) -> list[Placed]:
    """The new events, the known ones that may be tied to one of them, and those that may be tied to these: no other has
    a say in what becomes of the new ones."""
    found = list(new)
    latest = [(one, Prospect.of(one)) for one in new]
    left = [(one, Prospect.of(one)) for one in known]
    while latest and left:
        near: list[tuple[Placed, Prospect]] = []
        far: list[tuple[Placed, Prospect]] = []
        for each in left:
            (near if any(_may_tie(*one, *each) for one in latest) else far).append(each)
        found += [one for one, _ in near]
        latest, left = near, far
    return found


def _may_tie(one: Placed, own: Prospect, other: Placed, its: Prospect) -> bool:
    if place_in_time(one) < place_in_time(other):
        one, own, other, its = other, its, one, own
    return (
        own.may_end(its) or own.may_undo(its) or its.may_undo(own) or any(may_pair(k, one, other) for k in LINK_KINDS)
    )
