"""Answers in quotes are short, to the point, and show what a newer document says of the same matter."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from mnemon.ask.answer import Asking
from mnemon.ask.quoting.features import Weighing
from mnemon.ask.quoting.needs import need_of
from mnemon.ask.quoting.statements import Statement
from mnemon.ask.quoting.surroundings import StatementSource
from mnemon.ask.quoting.told import NOTHING_TOLD
from mnemon.ask.search import Searcher
from mnemon.db.database import Database
from mnemon.ids import new_uuid
from mnemon.log.store import EventLog
from mnemon.models.language import NoLanguageModel
from tests.documents.sample_chunks import put

from .conftest import searcher_of
from .test_answer import ADA, log

__all__ = ["log"]

OLD = "Decision: We will use MySQL for the booking engine."
NEW = "Decision: We use PostgreSQL instead of MySQL for the booking engine."


def day(month: int, number: int) -> datetime:
    return datetime(2026, month, number, tzinfo=UTC)


@pytest.fixture
def lexical(database: Database) -> Searcher:
    return searcher_of(database, None)


async def quotes(searcher: Searcher, log: EventLog, tenant: UUID, question: str) -> list[str]:
    answer = await Asking(searcher, log, NoLanguageModel()).ask(tenant, ADA, question)
    return [citation.quote for citation in answer.citations]


async def test_a_revised_decision_is_shown_before_the_one_it_revises(
    database: Database, tenant: UUID, lexical: Searcher, log: EventLog
) -> None:
    await put(
        database, tenant, [f"The database came up again. {NEW}"], headings=["Database, again"], written_at=day(2, 16)
    )
    await put(database, tenant, [f"Two databases were presented. {OLD}"], headings=["Database"], written_at=day(1, 26))
    asked = "Which database do we use for the booking engine?"
    assert await quotes(lexical, log, tenant, asked) == [NEW, OLD]


def test_the_end_of_a_month_is_no_end_of_a_contract() -> None:
    weighing = Weighing(need_of("When does the contract end?"), (), 10)
    origin = StatementSource(new_uuid(), new_uuid(), 1, True, "Note", "note", "text/plain", None)

    def said(words: str) -> float:
        statement = Statement(0, len(words), words)
        return weighing.measured(statement, origin, 1.0, True, 0, frozenset(), NOTHING_TOLD).values["own"]

    aim, ends = "We aim at a signed contract before the end of February.", "The agreement ends in June."
    assert said(aim) < said(ends)


async def test_a_newer_document_about_another_matter_is_left_out(
    database: Database, tenant: UUID, lexical: Searcher, log: EventLog
) -> None:
    await put(database, tenant, ["The lease of the office ends in September."], written_at=day(1, 26))
    await put(database, tenant, ["The office gets new chairs. The office is bright."], written_at=day(2, 26))
    assert await quotes(lexical, log, tenant, "When does the lease of the office end?") == [
        "The lease of the office ends in September."
    ]


async def test_how_many_asks_for_a_number_and_not_for_the_word_many(
    database: Database, tenant: UUID, lexical: Searcher, log: EventLog
) -> None:
    passage = "Prices punish marinas where many berths are let. Skagen has 62 guest berths. Many guests came."
    await put(database, tenant, [passage])
    assert await quotes(lexical, log, tenant, "How many berths does Skagen have?") == ["Skagen has 62 guest berths."]


async def test_what_a_heading_says_is_not_looked_for_in_other_documents(
    database: Database, tenant: UUID, lexical: Searcher, log: EventLog
) -> None:
    await put(database, tenant, ["Some would move closer to the harbour. Nothing decided."], headings=["4. Office"])
    await put(database, tenant, ["On Saturdays the harbour office has nobody."])
    found = await quotes(lexical, log, tenant, "Did we decide to move the office?")
    assert "Nothing decided." in found and not any("Saturdays" in quote for quote in found)


async def test_a_question_in_the_source_is_no_answer_where_there_is_one(
    database: Database, tenant: UUID, lexical: Searcher, log: EventLog
) -> None:
    await put(database, tenant, ["Can anybody read bookings with that key? No bookings can be read with that key."])
    assert await quotes(lexical, log, tenant, "Could bookings be read with that key?") == [
        "No bookings can be read with that key."
    ]


async def test_a_question_about_a_speaker_is_answered_by_what_they_say(
    database: Database, tenant: UUID, lexical: Searcher, log: EventLog
) -> None:
    turns = [
        "Karen Holm: We want electricity in the harbour as soon as it can be.",
        "Ada Byrne: Some want electricity in the harbour by June.",
        "Karen Holm: The guests like the page.",
        "Ada Byrne: They said so.",
    ]
    await put(database, tenant, ["\n".join(turns)])
    asked = "When does {} want electricity in the harbour?"
    words = [turn.partition(": ")[2] for turn in turns]
    assert await quotes(lexical, log, tenant, asked.format("Karen")) == words[:1]
    assert await quotes(lexical, log, tenant, asked.format("Ada")) == words[1:2]
    assert words[1] in await quotes(lexical, log, tenant, asked.format("anybody"))
