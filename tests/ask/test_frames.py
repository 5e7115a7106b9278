"""What we say around the words of sources is in the language of the question."""

import string
from datetime import date
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.ask.frames import ENGLISH, GERMAN, Note, language_of
from tests.ask.test_listing import Done
from tests.semantics.conftest import ADA, Added, added, all_done, settings, work
from tests.work.conftest import eventually

__all__ = ["added", "all_done", "eventually", "settings", "work"]

PROTOKOLL = """Vereinssitzung

Datum: 2. März 2026

Beschluss: Der Beitrag für Erwachsene beträgt 40 Euro im Jahr.
"""
NEUER = """Vereinssitzung

Datum: 11. Mai 2026

Beschluss: Der Beitrag für Erwachsene beträgt ab sofort 55 Euro im Jahr statt 40 Euro.
"""


@pytest.mark.parametrize("table", ["notes", "refusals", "words"])
def test_both_languages_have_every_sentence_with_the_same_blanks(table: str) -> None:
    english, german = getattr(ENGLISH, table), getattr(GERMAN, table)
    assert english.keys() == german.keys()
    for name in english:
        assert blanks(english[name]) == blanks(german[name]), name


def blanks(told: str | tuple[str, ...]) -> list[set[str | None]]:
    parts = (told,) if isinstance(told, str) else told
    return [{blank for _, blank, _, _ in string.Formatter().parse(part) if blank} for part in parts]


def test_days_and_notes_are_written_as_people_write_them() -> None:
    day = date(2026, 3, 2)
    assert (ENGLISH.day(day), GERMAN.day(day)) == ("2 March 2026", "2. März 2026")
    assert GERMAN.note(Note("replaced", day)) == "Ersetzt am 2. März 2026:"
    assert GERMAN.note(Note("replaced")) == "Inzwischen ersetzt:"
    old = Note("old_version", day, (1, 3))
    assert GERMAN.note(old) == "Version 1, am 2. März 2026 durch Version 3 ersetzt:"
    assert GERMAN.span(day, None) == "ab 2. März 2026"
    assert (GERMAN.counted("passages", 1), GERMAN.counted("passages", 1204)) == ("1 Stelle", "1,204 Stellen")


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie hoch ist der Beitrag?", "de"), ("Wer zahlt?", "de"), ("Was ist überfällig?", "de"),
        ("beitrag für erwachsene", "de"), ("Aufgaben von Uwe", "de"), ("Welche Fristen gibt es?", "de"),
        ("Bis wann liefert Uwe?", "de"),
        ("Wieviel zahlt Papierhaus Wolff je Folge?", "de"), ("Was kostet Ada?", "de"), ("Was Ada promoted?", "en"),
        ("Was it in March?", "en"), ("Who does the Dienst am Sonntag?", "en"), ("Fällige Zusagen?", "de"),
        ("Was hat Theo versprochen?", "de"), ("Is the Abend mit Ada open?", "en"),
        ("How much is the fee?", "en"), ("pricing", "en"), ("Who is Die Welt?", "en"),
        ("What was said in the war?", "en"), ("Deadlines?", "en"), ("", "en"),
    ],
)  # fmt: skip
def test_the_language_is_that_of_the_question(question: str, language: str) -> None:
    assert language_of(question) == language


async def test_a_german_question_has_german_frames(mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done) -> None:
    await added(PROTOKOLL, "maerz.txt")
    await added(NEUER, "mai.txt")
    await all_done()
    fee = await mnemon.asking.ask(tenant, ADA, "Wie hoch ist der Beitrag für Erwachsene?")
    assert fee.language == "de" and "55 Euro" in fee.sentences[0].text
    assert {one.note for one in fee.sentences[1:]} <= {"Ersetzt am 11. Mai 2026:", "Früher, am 2. März 2026:"}
    assert len(fee.sentences) > 1 and fee.sentences[1].note in fee.text


async def test_a_refusal_is_told_in_the_language_of_the_question(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    nothing = await mnemon.asking.ask(tenant, ADA, "Wie viele Boote hat der Verein?")
    assert nothing.refusal and nothing.refusal.message == "Hier ist noch nichts gespeichert."
    await added(PROTOKOLL, "maerz.txt")
    await all_done()
    weak = await mnemon.asking.ask(tenant, ADA, "Wie heißt der Hund des Hausmeisters?")
    assert weak.refusal and weak.refusal.message in GERMAN.refusals.values()
    asked = "How is the dog of the caretaker called?"
    assert (refused := (await mnemon.asking.ask(tenant, ADA, asked)).refusal)
    assert refused.message in ENGLISH.refusals.values()
