"""Whether a report of work speaks of the work that was promised: the same verb, or words for any finished work."""

import re
from functools import lru_cache

from mnemon.semantics.link.placed import Placed
from mnemon.semantics.rules.word_lists import words

# "The script is done", "the plan is ready": said of whatever was promised.
_FINISHED = re.compile(
    r"\b(?:done|finished|completed?|ready|delivered|shipped|live|closed|resolved|in place|up and running)\b",
    re.IGNORECASE,
)
# Who promises to finish something may report its end in any words.
_ANY_END = words("finish complete deliver do get make provide handle wrap sort arrange organise organize have take")
_PROMISED = re.compile(
    r"(?:\b(?:will|shall|to|please|must|can)|'ll)\s+(?:(?:also|then|gladly|certainly|you|me|us)\s+)*(?P<verb>[a-z-]+)",
    re.IGNORECASE,
)
_OWNED = re.compile(r"^[^:–—]{1,40}(?::|\s[–—-])\s+(?P<verb>[a-z-]+)", re.IGNORECASE)
_WORD = re.compile(r"[a-z-]+", re.IGNORECASE)
# "Sent." by itself, or with a word or two about what follows from it.
_BARE = re.compile(
    r"\W*(?:(?:all|just|already)\s+)?(?P<verb>[a-z-]{3,20})(?:\s+(?:now|today|just now|already))?\s*(?:[.!,;]|$)",
    re.IGNORECASE,
)

_IRREGULAR = {
    past: verb
    for verb, pasts in {
        "begin": "began begun", "bring": "brought", "build": "built", "buy": "bought", "choose": "chose chosen",
        "do": "did done", "draw": "drew drawn", "find": "found", "get": "got", "give": "gave given", "hold": "held",
        "make": "made", "meet": "met", "pay": "paid", "rebuild": "rebuilt", "rewrite": "rewrote rewritten",
        "run": "ran", "send": "sent", "speak": "spoke spoken", "take": "took taken", "teach": "taught",
        "tell": "told", "write": "wrote written",
    }.items()
    for past in pasts.split()
}  # fmt: skip
_TITLES = frozenset({"dr", "prof", "mr", "mrs", "ms", "frau", "herr", "herrn"})
# So many characters tell whether a narrative goes on with the words of its quote.
_ENOUGH = 20


def reports_on(report: str, promise: str) -> bool:
    """Whether the words of a report say that what the words of a promise name was done, whoever did it."""
    verb = promised_verb(promise)
    if verb is None or verb in _ANY_END or _FINISHED.search(report):
        return True
    return tells_promised_verb(report, promise)


def tells_promised_verb(report: str, promise: str) -> bool:
    """Whether it says the very verb of the promise: "will send", "sent"."""
    return promised_verb(promise) in {base_of(word) for word in _WORD.findall(report)}


def promised_verb(promise: str) -> str | None:
    match = _PROMISED.search(promise) or _OWNED.match(promise)
    return base_of(match["verb"]) if match else None


def bare_report(sentence: str) -> str | None:
    """The verb of "Sent." or "Done, it is back."; None where the sentence says what was done, or nothing was."""
    match = _BARE.match(sentence)
    if match is None:
        return None
    word = match["verb"].lower()
    return base_of(word) if word in _IRREGULAR or word.endswith("ed") else None


def answers(report_verb: str | None, verb: str | None) -> bool:
    """Whether a bare report ends a promise with this verb."""
    return report_verb is not None and (report_verb in ("do", "finish", "complet") or report_verb == verb)


@lru_cache(maxsize=4096)
def base_of(word: str) -> str:
    """A verb's plain form, or what is left of it when both forms are cut alike: "uploaded" and "upload", "plan"."""
    word = _IRREGULAR.get(word.lower(), word.lower())
    if word.endswith("ied"):
        return word[:-3] + "y"
    if word.endswith("ed") and len(word) > 4:
        word = word[:-2]
        if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
            word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


def by_another(later: Placed, earlier: Placed) -> bool:
    """Somebody is known to have done it, and somebody else owes it."""
    owners, doers = owners_and_doers(later, earlier)
    known = {*doers, *_teller(later)}
    return bool(owners and doers) and not any(_one_person(owner, doer) for owner in owners for doer in known)


def _teller(later: Placed) -> set[str]:
    """Who says it, as the narrative has it before the words: "Hannah Brandt: Order is signed"."""
    name, colon, words = later.event.narrative.partition(": ")
    return {name.casefold()} if colon and words and later.words.startswith(words[:_ENOUGH]) else set()


def _one_person(one: str, other: str) -> bool:
    """ "Dr Hannah Brandt", "Hannah Brandt", "Hannah"."""
    first, second = ({word.strip(".") for word in name.split()} - _TITLES for name in (one, other))
    return bool(first and second) and (first <= second or second <= first)


def owners_and_doers(later: Placed, earlier: Placed) -> tuple[set[str], set[str]]:
    owners = {actor.ref.casefold() for actor in earlier.event.actors if actor.role == "owner"}
    return owners, {actor.ref.casefold() for actor in later.event.actors}
