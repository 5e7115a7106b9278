"""Claims about what an answer quotes beside the statement that comes first."""

from uuid import UUID

from mnemon.ask.frames import Note
from mnemon.ask.quoting.choosing import Choice, choose, told_once
from mnemon.ask.quoting.features import CandidateStatement, Weighing
from mnemon.ask.quoting.needs import need_of
from mnemon.ask.quoting.statements import Statement
from mnemon.ask.quoting.surroundings import StatementSource
from mnemon.ask.quoting.told import NOTHING_TOLD

QUESTION = "Did Tomasz take the ferry job in Aberdeen?"
OFFER = "He has an offer from a ferry company in Aberdeen."
REPLY = "He turned it down, Aberdeen is too far for him."
# As many words of another matter as make an answer hard to read.
ASIDE = "The bakery was full on Saturday and the oven held its heat until the evening, " * 4

VALUES = (
    "question",
    "empty",
    "of_other",
    "fits_new",
    "own",
    "heads",
    "by_named",
    "row",
    "update",
    "replaced",
    "quoted",
)


def said(words: str, place: int, score: float, document: int = 1, asked: str = "") -> CandidateStatement:
    origin = StatementSource(
        UUID(int=document), UUID(int=document), 1, True, f"Letters {document}", "letters.txt", "text/plain", None
    )
    statement = Statement(place, place + len(words), words, asked=asked)
    return CandidateStatement(statement, origin, 0.5, dict.fromkeys(VALUES, 0.0), score=score)


def quoted(*found: CandidateStatement) -> list[str]:
    weighing = Weighing(need_of(QUESTION), (), 10)
    return [one.candidate.statement.text for one in choose(found, weighing, NOTHING_TOLD)]


def test_a_later_reply_on_the_same_matter_is_quoted_though_it_is_less_likely() -> None:
    reply = said(REPLY, 400, 8.0, asked="And Tomasz? Has he started in Aberdeen?")
    assert quoted(said(OFFER, 0, 10.0), reply) == [OFFER, REPLY]


def test_a_long_statement_of_another_matter_is_not_quoted_though_it_is_nearer() -> None:
    assert quoted(said(OFFER, 0, 10.0), said(ASIDE, 0, 8.8, document=2)) == [OFFER]


def test_no_more_than_three_statements_are_quoted() -> None:
    replies = [said(f"{REPLY} Letter {number}.", 400 + number, 9.9, asked=QUESTION) for number in range(6)]
    assert len(quoted(said(OFFER, 0, 10.0), *replies)) == 3


def test_a_name_under_a_mail_is_not_quoted_for_being_short() -> None:
    signed = said("Tomasz", 400, 9.9, asked=QUESTION).known(empty=1.0)
    assert quoted(said(OFFER, 0, 10.0), signed) == [OFFER]


def test_what_a_statement_replaced_stands_right_after_it() -> None:
    new, old, other = said(REPLY, 400, 10.0), said(OFFER, 0, 9.0), said("He bakes with me.", 500, 9.5)
    choices = told_once([Choice(new), Choice(other), Choice(new), Choice(old, "replaced", Note("replaced"))])
    assert [one.candidate for one in choices] == [new, old, other]
