"""What stands beside a word: "fees for adults" and "fees for children" are two things, though both are fees."""

from collections.abc import Iterator, Mapping
from itertools import takewhile

from mnemon.ask.quoting import turning
from mnemon.ask.quoting.features import CandidateStatement, Weighing
from mnemon.ask.quoting.hearing import folded, stem_of, words_in
from mnemon.ask.quoting.needs import FILLERS
from mnemon.documents.structure.calendar_words import MONTHS, WEEKDAYS

# Looked past between a word and what it is said of.
_PASSED = frozenset(
    """no longer not any more now only also in of on at by for with from over is are was were be been the a an to so we
    nicht mehr jetzt nun auch nur für im am bei von der die das des den dem ein eine ist sind wird werden
    bleibt""".split()  # noqa: SIM905
)
_CALENDAR = frozenset(stem_of(word) for word in (*MONTHS, *WEEKDAYS))


def is_of_another(one: CandidateStatement, other: CandidateStatement, weighing: Weighing) -> bool:
    """Whether a word that both say stands beside a word of the question in the earlier statement, and beside another
    word in the later one, which says nothing of the first."""
    first, second = one.statement.text, other.statement.text
    said, others = ({stem_of(word) for word in words_in(text)} for text in (first, second))
    lacking = ({stem_of(word) for word in weighing.need.words} & said) - others
    if not lacking:
        return False
    turns = {
        stem_of(word)
        for cue in (turning.TURNS, turning.CHANGES, turning.UPDATE)
        for found in cue.finditer(second)
        for word in words_in(found[0])
    }
    shared = {stem for stem in said & others if not stem.isdigit()} - _PASSED - _CALENDAR
    return any(
        asked & lacking and told and not told & said
        for stem in shared
        for step in (-1, 1)
        for asked, told in _alike(_beside(first, stem, step), _beside(second, stem, step), turns)
    )


def _alike(
    first: Mapping[str, set[str]], second: Mapping[str, set[str]], turns: set[str]
) -> Iterator[tuple[set[str], set[str]]]:
    """What stands there in the same way: "for adults", "for children"."""
    for link in first.keys() & second.keys():
        yield first[link], {word for word in second[link] if not word.isdigit()} - turns


def _beside(text: str, stem: str, step: int) -> dict[str, set[str]]:
    """The stem before or behind each word of this stem, by the small words between them."""
    words = [folded(word) for word in words_in(text)][::step]
    found: dict[str, set[str]] = {}
    for place in (place for place, word in enumerate(words) if stem_of(word) == stem):
        between = list(takewhile(lambda word: word in _PASSED or word in FILLERS, words[place + 1 :]))
        for word in words[place + 1 + len(between) : place + 2 + len(between)]:
            found.setdefault(" ".join(between), set()).add(stem_of(word))
    return found
