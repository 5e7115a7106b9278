"""The learned reader: what it finds beside the rules, in both languages, and how it comes after them."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.models.tokens import ModelTokenizer
from mnemon.models.weights import find_weights
from mnemon.semantics.extract.extractor import extract_revision
from mnemon.semantics.extract.refining import refines
from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.extract.verify import holds
from mnemon.semantics.learned.engine import LearnedExtractor
from mnemon.semantics.learned.gloss import english, is_german
from mnemon.semantics.learned.reader import LearnedReader
from mnemon.semantics.learned.segments import segments_of, within_lines
from mnemon.semantics.learned.windows import windows_of
from mnemon.semantics.rules.engine import RulesExtractor
from mnemon.semantics.semantic_event import FACT_CONFIDENCE, SemanticEvent
from mnemon.settings import Settings
from tests.semantics.conftest import Added

GERMAN = """Protokoll Chorvorstand

Das Konzert im Dom wird abgesagt, so hat es der Vorstand einstimmig beschlossen.
Die Heizung im Probenraum ist seit Montag kaputt.
Bis Freitag schickt Frau Adeyemi uns die neuen Noten.
Wollen wir einen Ausflug machen?
"""


@pytest.fixture(scope="module")
def reader_home(open_folder: Path) -> Path:
    return open_folder / "models-home"


@pytest.fixture(scope="module")
def learned(reader_home: Path) -> LearnedExtractor:
    return LearnedExtractor(LearnedReader(reader_home))


def facts(engine: LearnedExtractor | RulesExtractor, text: str) -> list[SemanticEvent]:
    events = asyncio.run(extract_revision(engine, Revision("rev", text, "doc"))).events
    return [event for event in events if event.confidence >= FACT_CONFIDENCE]


def found(events: list[SemanticEvent], category: str, words: str) -> bool:
    return any(event.category.value == category and words in event.evidence[0].quote for event in events)


def test_german_is_read(learned: LearnedExtractor) -> None:
    events = facts(learned, GERMAN)
    assert found(events, "QualityRisk", "Heizung im Probenraum")
    assert found(events, "Commitment", "Noten")
    assert found(events, "Decision", "beschlossen")
    assert not any("Ausflug" in event.evidence[0].quote for event in events)


def test_what_it_finds_is_proven_and_the_same_each_time(learned: LearnedExtractor) -> None:
    once, twice = (asyncio.run(extract_revision(learned, Revision("rev", GERMAN, "doc"))).events for _ in range(2))
    assert once and once == twice
    assert all(holds(GERMAN, evidence) for event in once for evidence in event.evidence)


def test_people_of_a_german_text_are_those_that_it_calls_so(learned: LearnedExtractor) -> None:
    actors = {actor.ref for event in facts(learned, GERMAN) for actor in event.actors}
    assert actors == {"Frau Adeyemi"}


def test_every_unit_is_judged_once() -> None:
    units = Revision("rev", GERMAN * 12, "doc").layout.units
    windows = list(windows_of(units, "Protokoll", ModelTokenizer(find_weights().tokenizer)))
    assert len(windows) > 1 and max(len(window.ids) for window in windows) <= 512
    judged = [(one.unit, one.start) for window in windows for one in window.segments]
    assert judged == sorted(set(judged))
    assert {unit for unit, _ in judged} == set(range(len(units)))


def test_segments_part_what_is_said_in_one_breath() -> None:
    (unit,) = Revision("rev", "The copy is shipped, the go-live was pushed to 9 Feb.", "doc").layout.units
    assert [unit.text[start:end] for start, end in segments_of(unit)] == [
        "The copy is shipped",
        "the go-live was pushed to 9 Feb.",
    ]


@pytest.mark.parametrize("number", ["no. 31", "No. 7", "Nr. 5", "nos. 3–4"])
def test_the_stop_of_a_number_ends_no_segment(number: str) -> None:
    (unit,) = Revision("rev", f"Grace starts the long endurance run {number} with two new pumps", "doc").layout.units
    assert [unit.text[start:end] for start, end in segments_of(unit)] == [unit.text]


@pytest.mark.parametrize(
    ("word", "meaning"),
    [("beschlossen", "decided"), ("Liefertermin", "delivery date"), ("Verträgen", "contract"), ("Quarz", None)],
)
def test_german_words_are_put_into_english(word: str, meaning: str | None) -> None:
    assert english(word) == meaning


def test_german_is_told_from_english() -> None:
    assert is_german(GERMAN) and not is_german("The heating has been broken since Monday. Ms Adeyemi orders stands.")


def test_rules_alone_are_a_setting(tmp_path: Path) -> None:
    assert refines(Settings(home=tmp_path))
    assert not refines(Settings(home=tmp_path, extraction_engine="rules"))
    assert not refines(Settings(home=tmp_path, embedder="none"))


class TestAfterTheRules:
    @pytest.fixture
    def settings(self, reader_home: Path) -> Settings:
        return Settings(home=reader_home)

    async def test_it_refines_what_the_rules_gave(
        self, mnemon: Mnemon, tenant: UUID, added: Added, all_done: Callable[[], Awaitable[None]]
    ) -> None:
        await added(GERMAN)
        await all_done()
        async with mnemon.database.transaction(tenant) as tx:
            runs = await (await tx.execute("SELECT engine FROM mnemon.extractions ORDER BY extracted_at")).fetchall()
            events = await (await tx.execute("SELECT narrative FROM mnemon.semantic_events WHERE active")).fetchall()
        assert [run["engine"] for run in runs] == ["rules", "learned"]
        assert any("Heizung" in event["narrative"] for event in events)


def test_a_person_and_a_deadline_are_owed_also_among_another_language(learned: LearnedExtractor) -> None:
    text = (
        "# Stand-up 4 May 2026\n\n- Dev: will send the migration plan to Aisha by 8 May.\n"
        "- Aisha: I'll review the contract by 12 May and tell legal.\n- Ready to ship the login page by Thursday.\n"
        "- Tom übernimmt den Raumplan. Frist ist der 29. Mai.\n"
    )
    quotes = [event.evidence[0].quote for event in facts(learned, text)]
    assert "Tom übernimmt den Raumplan. Frist ist der 29. Mai." in quotes


def test_a_quote_is_not_parted_where_a_line_was_only_full() -> None:
    text = "Hiring depends on the harbour of Marstal: if it signs before\nthe autumn, Ines opens the position"
    whole = [(0, 60), (61, 71), (72, len(text))]
    assert within_lines(text, whole, 61, len(text)) == (0, len(text))
    greeting = "Hi Cerys,\nthe paperwork is attached and I will call you on Friday"
    assert within_lines(greeting, [(0, 9), (10, len(greeting))], 10, len(greeting)) == (10, len(greeting))
