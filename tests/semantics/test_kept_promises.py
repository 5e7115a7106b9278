"""A promise is done when the later words say so, and never because they merely mention it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mnemon.semantics.semantic_event import Category
from mnemon.semantics.supersession import Placed, link_events
from tests.semantics.kept_promises import CASES, Case
from tests.semantics.reading import events

START = datetime(2025, 3, 5, tzinfo=UTC)
PEOPLE = ("Ada Byron", "Ben Okafor", "Carla Silva")


async def kept_by_the_rules(case: Case) -> bool:
    """Whether a promise of the first text is ended by words that say that it was kept."""
    placed = []
    for day, said in enumerate(case.said):
        for event in await events(said.text, said.type, sender=said.sender, people=PEOPLE):
            unique = replace(event, event_id=f"{day}:{event.event_id}")
            placed.append(Placed(unique, START + timedelta(days=day), f"doc_{day}", f"rev_{day}"))
    promised = {
        one.event.event_id
        for one in placed
        if one.event.category is Category.COMMITMENT and one.event.event_id.startswith("0:")
    }
    assert promised, "the promise itself was not found"
    return any(link.kind == "fulfils" and link.earlier in promised for link in link_events(placed))


def name_of(case: Case) -> str:
    return case.said[-1].text.replace("\n", " / ")


@pytest.mark.parametrize("case", [case for case in CASES if case.kept], ids=name_of)
async def test_what_was_kept_is_done(case: Case) -> None:
    assert await kept_by_the_rules(case)


@pytest.mark.parametrize("case", [case for case in CASES if not case.kept], ids=name_of)
async def test_what_was_not_kept_stays_open(case: Case) -> None:
    assert not await kept_by_the_rules(case)
