"""Claims about what a question needs: the words that only ask are no content, and the kind of answer is known."""

from uuid import UUID

import pytest

from mnemon.ask.answer import Asking
from mnemon.ask.quoting.features import Weighing
from mnemon.ask.quoting.needs import as_question, kind_of, need_of
from mnemon.db.database import Database
from mnemon.log.store import EventLog
from mnemon.models.language import NoLanguageModel
from tests.documents.sample_chunks import put

from .conftest import searcher_of
from .test_answer import ADA, log

__all__ = ["log"]

HANDBOOK = [
    "Full-time colleagues get 28 days of paid holiday a year. Sick leave of more than three days needs a note.",
    "Hotels may cost up to 140 EUR a night. Trains are booked in second class.",
    "We are using Redis for the session cache. Tom looks after it.",
    "Reservations are stored for 18 months and then deleted, because the tax office may ask for them until then.",
    "The bookings failed on Monday. The bookings failed because a certificate had expired.",
    "Uwe Kramer ist gegen die neue Schicht. Jana Petzold hat die neue Schicht vorgeschlagen.",
]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who approved the budget?", "who"),
        ("Wer hat das Budget genehmigt?", "who"),
        ("When does the contract end?", "when"),
        ("Bis wann läuft der Vertrag?", "when"),
        ("How many days of holiday do I get?", "how_many"),
        ("How long do we store reservations?", "how_long"),
        ("How much may a hotel cost?", "how_much"),
        ("Wie viel kostet das Hotel?", "how_much"),
        ("Why did the bookings fail?", "why"),
        ("What caused the outage?", "why"),
        ("Are we still using Redis?", "yes_no"),
        ("Bleibt die Nachtschicht?", "yes_no"),
        ("Where do we meet?", "where"),
        ("What is a berth window?", "definition"),
        ("What are the open tasks of Ada?", "list"),
        ("How do I reset my password?", "how"),
        ("What did Ada say about the boat?", "what"),
        ("Was wurde über Preise beschlossen?", "what"),
        ("Was the price decided?", "yes_no"),
        ("Who is the landlord?", "who"),
        ("Who is Yolanda?", "definition"),
    ],
)
def test_a_question_says_what_kind_of_thing_it_needs(question: str, kind: str) -> None:
    assert kind_of(question) == kind


@pytest.mark.parametrize(
    ("words", "question"),
    [
        ("When do we open on Sundays", "When do we open on Sundays?"),
        ("wann öffnen wir sonntags ", "wann öffnen wir sonntags?"),
        ("When do we open on Sundays?", "When do we open on Sundays?"),
        ("Tell me when we open.", "Tell me when we open."),
        ("opening hours sundays", "opening hours sundays"),
    ],
)
def test_a_question_ends_with_its_mark(words: str, question: str) -> None:
    assert as_question(words) == question


def test_words_that_only_ask_are_no_content() -> None:
    assert need_of("How many days of holiday do I get?").words == ("days", "holiday")
    assert need_of("Are we still using Redis?").words == ("Redis",)
    assert need_of("Wie lange werden die Buchungen noch aufbewahrt?").words == ("Buchungen", "aufbewahrt")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many days of holiday do I get?", "28 days of paid holiday"),
        ("How much may a hotel cost?", "140 EUR"),
        ("Are we still using Redis?", "We are using Redis"),
        ("How long do we store reservations?", "18 months"),
        ("Why did the bookings fail?", "because a certificate had expired"),
        ("Wer ist gegen die neue Schicht?", "Uwe Kramer ist gegen"),
    ],
)
async def test_what_is_said_in_few_of_the_words_is_answered(
    database: Database, tenant: UUID, log: EventLog, question: str, answer: str
) -> None:
    await put(database, tenant, HANDBOOK)
    asking = Asking(searcher_of(database, None), log, NoLanguageModel())
    assert answer in (await asking.ask(tenant, ADA, question)).text


@pytest.mark.parametrize("question", ["How many days does the submarine need?", "How much does the helicopter cost?"])
async def test_what_nobody_wrote_about_is_refused(
    database: Database, tenant: UUID, log: EventLog, question: str
) -> None:
    await put(database, tenant, HANDBOOK)
    asking = Asking(searcher_of(database, None), log, NoLanguageModel())
    refusal = (await asking.ask(tenant, ADA, question)).refusal
    assert refusal is not None
    assert {"how", "many", "much"}.isdisjoint(refusal.searched.unknown_words)


@pytest.mark.parametrize(
    ("question", "timed"),
    [("Are we open on Saturdays?", False), ("Haben wir samstags offen?", False), ("Are we open on Saturday?", True)],
)
def test_a_day_that_comes_round_every_week_is_no_time(question: str, timed: bool) -> None:
    assert Weighing(need_of(question), (), 1).timed is timed


@pytest.mark.parametrize(
    ("question", "settled"),
    [
        ("Which payment provider do we use?", True),
        ("Welchen Anbieter nutzen wir?", True),
        ("Which provider did we originally use?", False),
        ("Why do we pay the provider?", False),
    ],
)
def test_what_we_use_is_what_was_decided(question: str, settled: bool) -> None:
    assert Weighing(need_of(question), (), 10).asks_settled is settled
