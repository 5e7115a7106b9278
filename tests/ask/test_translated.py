"""Claims about a question in one language of texts in the other."""

from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.ask.inputs import Question
from mnemon.ask.translated import asked_in_english, asked_in_german_too, in_english, need_of_german
from tests.semantics.conftest import ADA, Added, added, all_done, settings, work
from tests.work.conftest import eventually

__all__ = ["added", "all_done", "eventually", "settings", "work"]
Done = Callable[[], Awaitable[None]]

GERMAN = """# Protokoll der Mitgliederversammlung vom 14. Oktober 2026

Anwesend: Marta Lind, Jonas Weber, Anke Schröder

## Beiträge
Der Jahresbeitrag steigt ab Januar 2027 von 180 auf 210 Euro.

## Aufgaben
Anke Schröder prüft bis zum 15. November 2026 die Mahnungen.
Jonas Weber kümmert sich um die Schlüssel für das Bootshaus.
"""
ENGLISH = """# Boat house

The lease for the boat house ends on 31 March 2028. It was built in 1964 by members of the club.

## Regatta 2027
Total budget: 8,200 EUR, of which 2,500 EUR come from the town.
"""


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("What is the annual fee from January 2027?", "Der Jahresbeitrag steigt ab Januar 2027 von 180 auf 210 Euro."),
        ("Who has the keys?", "Jonas Weber kümmert sich um die Schlüssel für das Bootshaus."),
        ("Wann endet der Pachtvertrag?", "The lease for the boat house ends on 31 March 2028."),
        ("Wie hoch ist das Budget der Regatta 2027?", "8,200 EUR"),
    ],
)
async def test_a_question_in_the_other_language_is_answered_in_the_words_that_stand_there(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done, question: str, quoted: str
) -> None:
    await added(GERMAN, "protokoll.md")
    await added(ENGLISH, "boats.md")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, question)
    assert answer.question == question
    assert quoted in answer.text
    assert quoted in answer.citations[0].quote


async def test_a_question_taken_as_its_words_stays_in_its_language(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added(ENGLISH, "boats.md")
    await all_done()
    question = "Wann endet der Pachtvertrag?"
    assert (await mnemon.asking.ask(tenant, ADA, question)).outcome == "answered"
    as_words = await mnemon.asking.ask(tenant, ADA, question, Question(question=question, as_words=True))
    assert as_words.outcome == "refused"


@pytest.mark.parametrize(
    "question", ["When does the museum open?", "Wann öffnet das Museum?", "Wie viele Leute arbeiten in Berlin?"]
)
async def test_what_no_file_says_in_either_language_is_refused(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done, question: str
) -> None:
    await added(GERMAN, "protokoll.md")
    await added(ENGLISH, "boats.md")
    await all_done()
    assert (await mnemon.asking.ask(tenant, ADA, question)).outcome == "refused"


def test_what_asks_is_put_over_as_a_question_and_nouns_are_no_names() -> None:
    asked = asked_in_english("Wie viele Verträge enden im Mai?")
    assert asked.startswith("how many contract")
    need = need_of_german("Wann läuft der Vertrag mit Filippi aus?", "when end the contract with Filippi?")
    assert need.kind == "when"
    assert not need.names
    assert in_english("Der Vertrag endet.") == "the contract end."
    assert "vertrag" in asked_in_german_too("When does the contract end?").split()
