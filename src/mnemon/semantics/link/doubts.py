"""Signs that what two events share is not the thing itself: a likely link is then only suggested."""

from mnemon.semantics.link.cue_words import REVERSES, SAYS_CHANGE
from mnemon.semantics.link.days import days_named
from mnemon.semantics.link.kept import base_of, owners_and_doers, promised_verb
from mnemon.semantics.link.meanings import CALENDAR, SLIGHT, SLIGHT_MEANT, WORD
from mnemon.semantics.link.pairs import in_one_text, shared_words
from mnemon.semantics.link.placed import Placed
from mnemon.semantics.link.wording import content_words, marks, naming_numbers
from mnemon.semantics.semantic_event import Category


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


def two_promises(later: Placed, earlier: Placed) -> bool:
    """Two of one document that share no verb and no word of change: one who takes a shift and writes the plan of the
    shifts promised both."""
    if later.document != earlier.document or not (
        later.event.category is earlier.event.category is Category.COMMITMENT
    ):
        return False
    verbs = [promised_verb(one.words) for one in (later, earlier)]
    bases = [{base_of(word) for word in WORD.findall(one.words)} for one in (later, earlier)]
    shared = (verbs[0] is not None and verbs[0] in bases[1]) or (verbs[1] is not None and verbs[1] in bases[0])
    return not shared and SAYS_CHANGE.search(later.words) is None


def only_meant(later: Placed, earlier: Placed) -> bool:
    """Two texts without a word in common that tells of something, be it that both agree: only their meaning ties
    them."""
    return not in_one_text(later, earlier) and not shared_words(later, earlier) - SLIGHT_MEANT


def turns_nothing_round(later: Placed, earlier: Placed) -> bool:
    """Neither names what it would replace nor says that anything is replaced."""
    return REVERSES.search(later.words) is None and not shared_words(later, earlier) - SLIGHT_MEANT


def nothing_in_common(later: Placed, earlier: Placed) -> bool:
    """Only a number or a month, "12 places" and "by 12 November", and nobody either. "From 27 June to 4 July" speaks of
    what was decided for 27 June."""
    told = (word for word in shared_words(later, earlier) if word not in CALENDAR and not word.isdigit())
    owners, doers = owners_and_doers(later, earlier)
    return not any(told) and not owners & doers and not days_named(later.words) & days_named(earlier.words)
