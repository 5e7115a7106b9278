"""What speaks for a tie of two events or against it beyond the words they share: values, due days, how it is told."""

import re
from collections.abc import Callable
from functools import lru_cache

from mnemon.semantics.link.cue_words import SAYS_CHANGE
from mnemon.semantics.link.meanings import CALENDAR, GERMAN_STOP, SLIGHT, meanings
from mnemon.semantics.link.old_and_new import has_other_value, told_as_old, values_in
from mnemon.semantics.link.placed import Placed
from mnemon.semantics.link.wording import content_words, marks
from mnemon.semantics.semantic_event import Category

_STAYS = re.compile(
    r"\b(?:stays?|stay(?:ed|ing)|remains?|keep(?:s|ing)?|kept|holds|still|stands|bleib\w*|blieb\w*|weiterhin"
    r"|wie (?:gehabt|besprochen|geplant|vereinbart|bisher)|as (?:agreed|planned|before|ever|discussed)|unchanged"
    r"|unverändert|confirmed|bestätigt)\b",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(
    r"\b(?:half|partly|almost|nearly|still|not yet|so far|some of|waiting|missing|started|began|begun"
    r"|\w+ of (?:the )?(?:\d+|three|four|five|six|seven|eight|nine|ten|eleven|twelve)|halb|fast|teilweise|noch nicht"
    r"|bisher|fehl\w*|wartet|angefangen|begonnen|offen|open)\b|\b\d+ (?:of|von) (?:\w+ )?\d+",
    re.IGNORECASE,
)
_FINISHED = re.compile(
    r"\b(?:done|finished|ready|completed?|erledigt|fertig|abgeschlossen|is in|are in|is out|are out|is up|raus|ist da"
    r"|sind da|steht|hängt|closed|merged|shipped|live)\b",
    re.IGNORECASE,
)
# So near its due day work is reported, and beyond so many days it makes no difference.
_NEAR_DUE, _LONG_PAST = 4, 120
_MOST_RARITY, _MOST_ROLE = 15.0, 3

PAIR_SIGNS: tuple[str, ...] = (
    "rows_of_one_text", "stays", "other_value", "only_names", "told_shared", "told_rarest", "says_change", "near_due",
    "before_due", "past_due", "unfinished", "finished", "told_at_once", "old_value_there", "old_value_elsewhere",
    "old_words_elsewhere", "role_shared",
)  # fmt: skip


def pair_signs(later: Placed, earlier: Placed, rarity: Callable[[str], float]) -> tuple[float, ...]:
    """In the order of `PAIR_SIGNS`. `rarity` tells how much it says that two events share a word."""
    new, old = later.words, earlier.words
    people = content_words(" ".join(actor.ref for one in (later, earlier) for actor in one.event.actors))
    shared = meanings(new) & meanings(old) - GERMAN_STOP - SLIGHT - people - CALENDAR
    names = marks(new) | marks(old)
    told = [rarity(word) for word in shared if word not in names and not word.isdigit()]
    due = earlier.event.due
    days = (later.said_at.date() - due).days if due else None
    (old_values, old_words), known = told_as_old(new), _known_values(earlier)
    stays, says_change, unfinished, finished = _manner(new)
    of_role = later.event.category is earlier.event.category is Category.STAKEHOLDER
    return (
        float(later.revision_id == earlier.revision_id and "|" in new and "|" in old),
        stays,
        float(has_other_value(new, old)),
        float(not told),
        min(sum(told), _MOST_RARITY) / 5,
        max(told, default=0.0) / 5,
        says_change,
        float(days is not None and abs(days) <= _NEAR_DUE),
        float(days is not None and days <= 0),
        min(max(days or 0, 0), _LONG_PAST) / 60,
        unfinished,
        finished,
        float(later.said_at == earlier.said_at),
        float(bool(old_values & known)),
        float(bool(old_values and known) and not old_values & known),
        float(bool(old_words) and not old_words & meanings(old)),
        min(len(shared), _MOST_ROLE) / _MOST_ROLE * of_role,
    )


@lru_cache(maxsize=4096)
def _manner(text: str) -> tuple[float, ...]:
    """How it is told: that something stays, changes, is not yet done, is done."""
    patterns = (_STAYS, SAYS_CHANGE, _UNFINISHED, _FINISHED)
    return tuple(float(pattern.search(text) is not None) for pattern in patterns)


def _known_values(earlier: Placed) -> frozenset[str]:
    due = earlier.event.due
    return values_in(earlier.words) | ({str(due.day)} if due else frozenset())
