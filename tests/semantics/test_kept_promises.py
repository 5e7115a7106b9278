"""A promise is done when the later words say so, and never because they merely mention it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mnemon.semantics.link.kept import by_another, reports_on
from mnemon.semantics.link.placed import Placed
from mnemon.semantics.link.supersession import link_events
from mnemon.semantics.semantic_event import Category, Evidence, InvolvedActor, SemanticEvent, Subject
from tests.semantics.kept_promises import CASES, Case
from tests.semantics.reading import events, in_chunks, revision

START = datetime(2025, 3, 5, tzinfo=UTC)
PEOPLE = ("Ada Byron", "Ben Okafor", "Carla Silva")


async def kept_by_the_rules(case: Case) -> bool:
    """Whether a promise of the first text is ended by words that say that it was kept."""
    placed = []
    for day, said in enumerate(case.said):
        for event in await events(said.text, said.type, sender=said.sender, people=PEOPLE):
            # How sure the reading is, is another matter.
            unique = replace(event, event_id=f"{day}:{event.event_id}", confidence=1.0)
            placed.append(Placed(unique, START + timedelta(days=day), f"doc_{day}", f"rev_{day}"))
    promised = {
        one.event.event_id
        for one in placed
        if one.event.category is Category.COMMITMENT and one.event.event_id.startswith("0:")
    }
    assert promised, "the promise itself was not found"
    return any(
        link.kind == "fulfils" and not link.suggested and link.earlier in promised for link in link_events(placed)
    )


def name_of(case: Case) -> str:
    return case.said[-1].text.replace("\n", " / ")


@pytest.mark.parametrize("case", [case for case in CASES if case.kept], ids=name_of)
async def test_what_was_kept_is_done(case: Case) -> None:
    assert await kept_by_the_rules(case)


@pytest.mark.parametrize("case", [case for case in CASES if not case.kept], ids=name_of)
async def test_what_was_not_kept_stays_open(case: Case) -> None:
    assert not await kept_by_the_rules(case)


FILLER = "".join(f"Ben: the weather in town {number} is fine.\n" for number in range(20))


async def kept_across_chunks(*parts: str) -> bool:
    """Each part is read as a chunk of its own."""
    whole = revision("".join(parts), "chat", people=PEOPLE)
    borders = [len("".join(parts[: number + 1])) for number in range(len(parts) - 1)]
    found = await in_chunks(whole, borders)
    assert [each.event_id for each in found] == [each.event_id for each in await in_chunks(whole, [])]
    return any(
        link.kind == "fulfils" and not link.suggested
        for link in link_events([Placed(each, START, "doc", "rev") for each in found])
    )


@pytest.mark.parametrize("report", ["Sent.", "Done!", "done, you should have it"])
async def test_a_bare_report_keeps_a_promise_from_an_earlier_chunk(report: str) -> None:
    assert await kept_across_chunks("Ada: I'll send the report today.\n", FILLER, f"Ada: {report}\n")


async def test_a_bare_report_in_a_later_chunk_keeps_no_other_promise() -> None:
    promise = "Ada: I'll send the report today.\n"
    assert not await kept_across_chunks(promise, FILLER, "Ben: Sent.\n")
    assert not await kept_across_chunks(promise, FILLER, "Ada: Fixed.\n")
    assert not await kept_across_chunks(promise, "Ada: I'll call the bank tomorrow.\n" + FILLER, "Ada: Sent.\n")


async def test_a_promise_is_kept_once_across_chunks() -> None:
    first, last = f"Ada: I'll send the report today.\nAda: Sent.\n{FILLER}", "Ada: Done.\n"
    found = await in_chunks(revision(first + last, "chat", people=PEOPLE), [len(first)])
    assert [each.category for each in found] == [Category.COMMITMENT, Category.EXECUTION]


@pytest.mark.parametrize(
    ("report", "promise", "is_of_it"),
    [
        ("Ada wrote the plan.", "Ada will finish the plan by Friday.", True),
        ("Ada wrote the plan.", "Ada will write the plan by Friday.", True),
        ("Ada wrote the plan.", "Ada will print the plan by Friday.", False),
    ],
)
def test_who_promises_an_end_may_report_it_in_any_words(report: str, promise: str, is_of_it: bool) -> None:
    assert reports_on(report, promise) is is_of_it


def _placed(narrative: str, quote: str, category: Category, day: int, *actors: InvolvedActor) -> Placed:
    evidence = Evidence(0, len(quote), quote)
    event = SemanticEvent(f"evt_{day}", category, narrative, Subject("order"), actors, (evidence,), 0.9)
    return Placed(event, datetime(2026, 9, day, tzinfo=UTC), f"doc_{day}", f"rev_{day}")


def test_who_reports_of_the_work_in_a_talk_is_the_one_who_owes_it_by_any_form_of_the_name() -> None:
    owner = InvolvedActor("Dr Hannah Brandt", "owner")
    promise = _placed("Hannah will sign the order.", "Hannah will sign the order.", Category.COMMITMENT, 7, owner)
    quote, thing = "Order for the Examion is signed and sent.", InvolvedActor("Examion", "contributor")
    own = _placed(f"Hannah Brandt: {quote}", quote, Category.EXECUTION, 17, thing)
    others = _placed(f"Omar Siddiqui: {quote}", quote, Category.EXECUTION, 18, thing)
    assert not by_another(own, promise)
    assert by_another(others, promise)
