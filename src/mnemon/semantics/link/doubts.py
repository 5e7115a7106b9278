"""Signs that what two events share is not the thing itself: a likely link is then only suggested."""

from mnemon.semantics.link.kept import base_of, promised_verb
from mnemon.semantics.link.pairs import SLIGHT, shared_words
from mnemon.semantics.link.placed import Placed
from mnemon.semantics.link.wording import content_words, marks, naming_numbers


def lettered_apart(later: Placed, earlier: Placed) -> bool:
    """Letters or numbers that name things, and none in common: building A is not building B."""
    new, old = (_signs(one.words) for one in (later, earlier))
    return bool(new and old and not new & old)


def _signs(words: str) -> set[str]:
    return {sign for sign in {*marks(words), *naming_numbers(words)} if len(sign) == 1 or sign.isdigit()}


def only_verb(later: Placed, earlier: Placed) -> bool:
    """Only what was to be done in common, and something else that it was done to: "call the bank", "called the
    landlord"."""
    verb = promised_verb(earlier.words) or ""
    told = {base_of(word) for word in shared_words(later, earlier)}
    own = content_words(later.words) - content_words(earlier.words) - SLIGHT
    return bool(told) and told <= {verb, base_of(verb)} and bool(own)
