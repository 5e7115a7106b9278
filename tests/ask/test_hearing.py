"""Words of a question are heard in a text whatever ending they have there."""

import pytest

from mnemon.ask.quoting.hearing import Hearing


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("events", "event"), ("event", "events"), ("plan", "planned"), ("plants", "plant"), ("sign", "signed"),
        ("Termin", "Termine"), ("Plan", "Pläne"), ("open", "opens"), ("rents", "rent"), ("parties", "party"),
    ],
)  # fmt: skip
def test_a_word_is_heard_in_its_forms(asked: str, said: str) -> None:
    assert Hearing([asked]).heard_in(f"so {said} here")[0] == {0}


@pytest.mark.parametrize(
    ("asked", "other"),
    [
        ("event", "even"),
        ("events", "evening"),
        ("plant", "plan"),
        ("plan", "plants"),
        ("car", "card"),
        ("win", "winter"),
    ],
)
def test_another_word_that_begins_alike_is_not_heard(asked: str, other: str) -> None:
    assert Hearing([asked]).heard_in(other) == (frozenset(), frozenset())


@pytest.mark.parametrize(("asked", "said"), [("against", "objected"), ("customers", "clients"), ("leave", "holidays")])
def test_words_of_like_meaning_are_heard_in_their_forms_too(asked: str, said: str) -> None:
    assert Hearing([asked]).heard_in(said) == (frozenset(), frozenset({0}))


@pytest.mark.parametrize(("asked", "said"), [("cleaner", "cleaning"), ("training", "trainers"), ("Leiter", "Leitung")])
def test_who_does_something_is_only_like_what_they_do(asked: str, said: str) -> None:
    assert Hearing([asked]).heard_in(said) == (frozenset(), frozenset({0}))
