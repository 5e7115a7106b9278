"""What the learned reader does not take for a fact: rows of price lists, proposals, offers; and what a label states."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.tables.csv_text import extract_csv
from mnemon.documents.structure.reading import read_structure
from mnemon.semantics.extract.extractor import extract_revision
from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.learned.engine import LearnedExtractor
from mnemon.semantics.learned.reader import LearnedReader
from mnemon.semantics.semantic_event import FACT_CONFIDENCE, SemanticEvent
from tests.semantics.reading import events

MONDAY = datetime(2026, 10, 12, 10, tzinfo=UTC)


@pytest.fixture(scope="module")
def learned(open_folder: Path) -> LearnedExtractor:
    return LearnedExtractor(LearnedReader(open_folder / "models-home"))


async def found(engine: LearnedExtractor, text: str, csv: bool = False) -> list[SemanticEvent]:
    structure = None
    if csv:
        table = extract_csv(text.encode(), Limits())
        text, structure = table.text, read_structure(table.text, table.blocks)
    read = Revision("rev", text, "doc", MONDAY, "UTC", structure=structure)
    return list((await extract_revision(engine, read)).events)


def told(events: list[SemanticEvent]) -> list[tuple[str, str]]:
    return [(one.category.value, one.evidence[0].quote) for one in events if one.confidence >= FACT_CONFIDENCE]


@pytest.mark.parametrize(
    "table",
    [
        "product,price,allergens,baked_on\nWalnut bread,4.80,\"gluten, nuts\",Tuesday and Friday\n"
        "Oat roll,0.90,gluten,daily\nButter croissant,1.60,milk,Monday to Saturday\n",
        "plant,height,watered,sold by\nFern,40 cm,every Monday,piece\nIvy,20 cm,Thursday,metre\n",
        "Artikel;Preis;Tage\nMohnkuchen;3,20;Montag und Freitag\nRoggenbrot;4,20;Samstag\n",
    ],
)  # fmt: skip
async def test_a_row_of_a_price_list_is_nobodys_promise(learned: LearnedExtractor, table: str) -> None:
    assert [one for one in await found(learned, table, csv=True) if one.category.value == "Commitment"] == []


async def test_a_row_with_a_task_or_a_person_is_one(learned: LearnedExtractor) -> None:
    tasks = await found(learned, "what,who,until\norder flour,Greta,20 October 2026\nfix oven,Emre,Friday\n", csv=True)
    assert [one.actors[0].ref for one in tasks if one.category.value == "Commitment"] == ["Greta", "Emre"]
    rota = await found(learned, "day,baker,shift\nSunday,Greta Holm,early\nMonday,Emre Aydin,late\n", csv=True)
    assert all(one.due is None for one in rota) and rota


@pytest.mark.parametrize(
    ("line", "category"),
    [
        ("Risk: If the electrician does not come before 26 October, the oven cannot be connected.", "QualityRisk"),
        ("Risiko: Wenn die Fähre ausfällt, fehlt uns am Samstag das Mehl.", "QualityRisk"),
        ("Concern: in case of frost the pipe in the yard bursts.", "QualityRisk"),
        ("Blocker: unless the permit comes, nobody may enter the cellar.", "QualityRisk"),
        ("- Risk: if the crew falls ill, we cancel the tour.", "QualityRisk"),
        ("Decision: If the rye is late we bake with spelt.", "Decision"),
        ("Action: If the mill answers, Emre orders ten sacks by Friday.", "Commitment"),
    ],
)
async def test_a_label_says_what_a_conditional_is(learned: LearnedExtractor, line: str, category: str) -> None:
    text = f"Notes on the shop\n\nThe visit took an hour.\n\n{line}\n"
    words = line.partition(": ")[2][:20]
    assert any(one.category.value == category and words in one.evidence[0].quote for one in await events(text))
    assert any(kind == category and words in quote for kind, quote in told(await found(learned, text)))


async def test_without_a_label_a_conditional_is_nothing() -> None:
    assert not await events("If the electrician does not come before 26 October, the oven cannot be connected.")


@pytest.mark.parametrize(
    "words",
    [
        "I propose that we hang LED chains in the window by 1 December.",
        "Ich schlage vor, wir bestellen bis Freitag neue Lampen.",
        "Emre suggests that we buy a second mixer by Christmas.",
        "Jonas schlägt vor, dass Mira bis Montag die Liste schreibt.",
        "My proposal: we close on Mondays from January.",
        "Mühle Kaiser offers 0.62 euro per kilo. No decision yet.",
        "Brandt quoted 4,200 euro for the new counter. Not decided yet.",
        "Die Firma Voss bietet 0,70 Euro pro Stück an. Noch keine Entscheidung.",
    ],
)
async def test_a_proposal_or_an_offer_binds_nobody(learned: LearnedExtractor, words: str) -> None:
    for text in (words, f"Notes on the shop\n\n{words}\n\nThe visit took an hour.\n"):
        both = [*await found(learned, text), *await events(text)]
        assert not [one for one in both if one.category.value in ("Commitment", "Decision")]


async def test_who_promises_beside_a_proposal_promises(learned: LearnedExtractor) -> None:
    kinds = told(await found(learned, "I propose that we hang lamps, and I will order them by Friday.\n"))
    assert kinds == [("Commitment", "I will order them by Friday.")] or kinds[0][0] == "Commitment"


@pytest.mark.parametrize(
    "words",
    [
        "Please confirm by 20 October that the oven can be connected without a new fuse.",
        "Please check by Friday whether the roof could leak.",
        "Bitte bestätigen Sie bis 20. Oktober, dass der Anschluss passt.",
    ],
)
async def test_who_is_asked_to_confirm_is_asked(learned: LearnedExtractor, words: str) -> None:
    for one in (*await found(learned, words), *await events(words)):
        assert (one.category.value, one.kind) == ("Commitment", "request") and one.due
        assert "October" not in [actor.ref for actor in one.actors]
    assert told(await found(learned, words))


@pytest.mark.parametrize(
    "words",
    [
        "Decision: We will use MySQL for the booking engine. Jonas does not agree but will not block it.",
        "Beschluss: Wir nehmen den neuen Caterer. Frau Adler ist dagegen, weil der alte gut war.",
    ],
)
async def test_who_is_against_it_decides_nothing(learned: LearnedExtractor, words: str) -> None:
    decided = [quote for category, quote in told(await found(learned, words)) if category == "Decision"]
    assert len(decided) == 1
    assert "agree" not in decided[0] and "dagegen" not in decided[0]


async def test_a_decision_that_is_called_so_is_nobodys_promise(learned: LearnedExtractor) -> None:
    text = (
        "# Partners' meeting\n\nPresent: Ada, Halima\n\nHalima reported on the mills.\n"
        "Decision: split the rye 50/50 between the two until the summer.\n"
    )
    assert [category for category, _ in told(await found(learned, text))] == ["Decision"]


async def test_a_new_decision_is_one_as_well(learned: LearnedExtractor) -> None:
    text = "Umzug der Bibliothek\n\nNeue Entscheidung: wir nehmen stattdessen Kranz Logistik, 10.650 €.\n"
    assert "Decision" in [category for category, _ in told(await found(learned, text))]


async def test_a_quote_does_not_begin_where_a_line_was_full(learned: LearnedExtractor) -> None:
    text = (
        "We want five paying harbours at the end of the year. Hiring another engineer depends on Marstal: if Marstal "
        "signs before\nthe autumn, Ines will open the position in September.\n"
    )
    events = await found(learned, text)
    # Under a condition it is no promise, which half of the sentence did not tell.
    assert "Commitment" not in [category for category, _ in told(events)]
    assert not any(one.evidence[0].quote.startswith("the autumn") for one in events)
