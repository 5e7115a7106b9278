"""Where each word of a question stands, seen from a statement."""

from uuid import UUID

from mnemon.ask.learned.pairs import Heard
from mnemon.ask.quoting.agreeing import agreement, heard_in_each
from mnemon.ask.quoting.features import CandidateStatement, Weighing
from mnemon.ask.quoting.needs import need_of, with_people
from mnemon.ask.quoting.statements import statements_in
from mnemon.ask.quoting.surroundings import StatementSource, Stretch
from mnemon.ask.quoting.told import NOTHING_TOLD

HERE = StatementSource(UUID(int=1), UUID(int=1), 1, True, "service.txt", "", "text/plain", None)
SERVICE = """Service at Trondby

Compressor B: bearing worn, last serviced in February 2024.
Ines Varela paid 300 EUR.
The crane is checked each year.
"""


def weighed(question: str) -> tuple[Weighing, list[CandidateStatement]]:
    people = ["Ines Varela", "Olumide Prentiss"]
    weighing = Weighing(with_people(need_of(question), people), (), 0, people)
    stretch = Stretch(HERE, (), 0, len(SERVICE), statements_in(SERVICE, 0, from_start=True), 0.5)
    return weighing, weighing.candidates([stretch], NOTHING_TOLD)


def heard(question: str, words: str) -> dict[str, Heard]:
    weighing, found = weighed(question)
    for one, marks in zip(found, heard_in_each(found, weighing), strict=True):
        if words in one.statement.text:
            return {word: Heard(mark) for word, mark in zip(weighing.need.words, marks, strict=True)}
    raise AssertionError(words)


def test_a_letter_names_one_thing_and_not_another() -> None:
    told = heard("When was compressor A last serviced?", "bearing worn")
    assert (told["compressor"], told["A"]) == (Heard.SAID, Heard.NOWHERE)
    assert heard("When was compressor B last serviced?", "bearing worn")["B"] == Heard.SAID


def test_another_number_month_or_person_stands_in_the_place_of_what_is_asked() -> None:
    assert heard("What was serviced in March 2024?", "bearing worn")["March"] == Heard.OTHER
    assert heard("What was serviced in February 2023?", "bearing worn")["2023"] == Heard.OTHER
    assert heard("What did Olumide pay?", "300 EUR")["Olumide"] == Heard.OTHER


def test_what_is_said_elsewhere_in_the_text_is_told_from_what_is_said_nowhere() -> None:
    told = heard("Who pays for the crane and the ladder?", "300 EUR")
    assert (told["crane"], told["ladder"]) == (Heard.ELSEWHERE, Heard.NOWHERE)


def test_what_agrees_is_told_in_numbers() -> None:
    weighing, _ = weighed("What did Olumide pay in 2023?")
    values = agreement((Heard.NOWHERE, Heard.SAID, Heard.OTHER), weighing.need)
    assert values == {"instead": 1.0, "nowhere": 1 / 3, "names_nowhere": 1.0}
