"""What a text says that was so before, and the values that tell whether it speaks of an earlier one."""

import pytest

from mnemon.semantics.link.old_and_new import has_other_value, told_as_old, values_in


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("Docking is put back a week from the 5th to the 12th.", {"5"}),
        ("Clause 4 now says 24 hours instead of 48.", {"48"}),
        ("Abfüllung deshalb am 16.11. statt am 9.", {"9"}),
        ("Der Beginn verschiebt sich vom 1. auf den 14. September.", {"1"}),
        ("The get-in slips from the Monday to Tuesday 5 May.", {"weekday 0"}),
        ("Neu: 30.04. (war 31.03.)", {"31", "3"}),
        ("Previews shrink from three to two.", {"3"}),
        ("We open at nine.", set()),
    ],
)
def test_the_value_that_was_is_told_from_the_new_one(text: str, old: set[str]) -> None:
    assert told_as_old(text)[0] == old


def test_words_that_name_what_was_are_found_in_both_languages() -> None:
    assert "swanepoel" in told_as_old("Mr Petersen replaces Ms Swanepoel as the contact.")[1]
    assert "gemüsewrap" in {word.rstrip("s") for word in told_as_old("Statt Gemüsewraps gibt es Falafel.")[1]}


def test_numbers_in_words_months_and_weekdays_are_values() -> None:
    assert values_in("three vans on Tuesday, 05 May") == {"3", "5", "weekday 1", "month 5"}
    assert values_in("drei Wagen am Dienstag") == {"3", "weekday 1"}


@pytest.mark.parametrize(
    ("later", "earlier", "other"),
    [
        ("The fee is 480 euros.", "The fee stays at €450.", True),
        ("We meet on Friday.", "We meet on Thursday.", True),
        ("Beginn ist um 19:30 Uhr.", "Beginn ist um 19 Uhr.", True),
        ("Two vans go.", "Three vans go.", True),
        ("The fee is 480 euros.", "The fee is 480 euros a year.", False),
        ("Twelve chairs for the hall.", "The hall costs 12 euros.", False),
    ],
)
def test_the_same_measure_with_another_value(later: str, earlier: str, other: bool) -> None:
    assert has_other_value(later, earlier) is other
