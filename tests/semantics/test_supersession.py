"""A later decision ends an earlier one on its subject, a report of work fulfils a promise, nothing else does."""

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from mnemon.semantics.link import supersession
from mnemon.semantics.link.placed import EventLink, Placed
from mnemon.semantics.link.prospects import Prospect
from mnemon.semantics.link.supersession import link_between, link_events, links_with
from mnemon.semantics.search.changes import changes
from mnemon.semantics.semantic_event import Category, Evidence, SemanticEvent, Subject
from tests.semantics.reading import events

START = datetime(2025, 3, 5, tzinfo=UTC)


async def links(*texts: str, one_document: bool = False) -> list[EventLink]:
    placed = []
    for day, text in enumerate(texts):
        for event in await events(text, "note"):
            place = "doc" if one_document else f"doc_{day}"
            unique = event.__class__(**{**event.__dict__, "event_id": f"{day}:{event.event_id}"})
            placed.append(Placed(unique, START + timedelta(days=day), place, f"rev_{day}"))
    found = link_events(placed)
    for day in range(len(texts)):
        new, known = ([one for one in placed if (one.revision_id == f"rev_{day}") is own] for own in (True, False))
        of_it = [link for link in found if f"{day}:" in (link.later[:2], link.earlier[:2])]
        assert links_with(new, known) == of_it, "whichever of them came last"
    for earlier, later in permutations(placed, 2):
        looked_at = Prospect.of(later).may_end(Prospect.of(earlier))
        assert looked_at or link_between(later, earlier) is None, "no link is lost by not looking closer"
    return found


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("We decided to use MySQL for billing.", "We're going with Postgres instead of MySQL."),
        (
            "We will use MySQL for the booking engine.",
            "Decision: We use PostgreSQL instead of MySQL for the booking engine.",
        ),
        ("Decision: launch on 3 May.", "Decision: launch on 10 June."),
        ("Decision: Payments go through Paynet.", "Decision: We leave Paynet and use Nordpay for payments."),
        (
            "Decision: Berthline costs a flat fee of 49 euro per guest berth and year.",
            "Decision: Tiered pricing replaces the flat fee from 1 June 2026: 39 euro for the first 50 guest berths.",
        ),
        ("Decision: no deploys on Fridays.", "Decision: deploys on Fridays are allowed now."),
        (
            "Decision: From 3 October the practice opens on Saturdays from 9 am to 1 pm.",
            "Decision: we reversed the decision of 5 March: no Saturday opening any more from 17 October.",
        ),
        (
            "We decided to buy the lamps from Brightline Lighting because the warranty is 10 years.",
            "Decision: we no longer buy from Brightline, we go with Lumatec instead.",
        ),
        ("Decided: double shifts in October.", "The decision on the double shifts was withdrawn by the board."),
        (
            "Beschluss: Im Oktober wird samstags gearbeitet.",
            "Beschluss: Der Beschluss zur Samstagsarbeit ist aufgehoben.",
        ),
    ],
)
async def test_a_decision_ends_an_earlier_one_on_its_subject(earlier: str, later: str) -> None:
    (link,) = await links(earlier, later)
    assert link.kind == "supersedes"
    assert link.later.startswith("1:")
    assert link.earlier.startswith("0:")


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("We agreed to hold the offsite in Lisbon.", "We agreed to hold the offsite in Porto."),
        ("The team chose Vue for the admin console.", "The team chose React for the admin console."),
        ("We decided to use AWS for staging.", "We decided to use Azure for staging."),
        (
            "The board approved a budget of 40,000 euros for marketing.",
            "The board approved a budget of 55,000 euros for marketing.",
        ),
        ("We decided that the free plan allows five users.", "We decided that the free plan allows three users."),
        ("We decided to give the team two laptops.", "We decided to give the team three laptops."),
        ("We will not support Windows 10.", "We decided to support Windows 10."),
        ("It was decided to close the Leeds office in June.", "The decision to close the Leeds office is revoked."),
        (
            "We decided to use Kafka for the event bus.",
            "We have dropped Kafka and decided to use NATS for the event bus.",
        ),
        ("We decided to hire two engineers.", "We decided not to hire two engineers after all."),
        ("We decided to use redis for the session store.", "we're dropping redis for the session store"),
        ("Decision: cut-over on 21 November.", "moving the cut-over to 28 November instead"),
        ("We agreed to move to Python 3.12.", "we keep Python 3.10 after all"),
        ("Decision: hire two contractors.", "We are not hiring the two contractors."),
        ("Decision: the workshop takes place in Oslo.", "the workshop is off"),
        ("We decided to rename the product to Harbor.", "We decided to keep the old product name rather than Harbor."),
    ],
)
async def test_the_same_choice_made_anew_replaces_the_old_one(earlier: str, later: str) -> None:
    for one_document in (False, True):
        (link,) = await links(earlier, later, one_document=one_document)
        assert (link.kind, link.earlier[:2], link.later[:2]) == ("supersedes", "0:", "1:")


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("We decided to use Postgres for orders.", "We decided to use Redis for the session cache."),
        ("We decided to use Python for the importer.", "We decided to use Python for the exporter."),
        ("We decided to hire two engineers.", "We decided to hire a designer."),
        ("We decided to hire Anna for support.", "We decided to hire Ben for support."),
        ("We decided to use Anna as a reviewer.", "We decided to use Ben as a reviewer."),
        ("We agreed to visit the customer in Lisbon.", "We agreed to visit the customer in Porto."),
        ("We agreed to hold the offsite in Lisbon.", "We agreed to hold the board meeting in Madrid."),
        ("We agreed to use MySQL.", "We agreed to use Docker."),
        ("The board approved the budget for 2025.", "The board approved the budget for 2026."),
        ("We decided to support Windows 10 in June.", "We decided to support Windows 11 in June."),
        ("We decided to rent block 3 for storage.", "We decided to rent block 4 for storage."),
        ("We decided to raise the team plan to 49 euros.", "We decided to raise the enterprise plan to 199 euros."),
        ("We decided to encrypt backups at rest.", "We decided to encrypt backups in transit."),
        ("We decided to use Postgres for orders.", "As decided last week, we use Postgres for orders."),
        ("We decided to replace dock number 31 in hall 4.", "We decided to replace dock number 57 in hall 4."),
        ("We decided to replace dock number 31 in hall 4.", "We decided to replace dock number 31 in hall 12."),
        ("We decided to pay supplier Atlantik 9,000.", "We decided to pay supplier Nordsee 4,000."),
        ("We decided that the Gdansk depot closes.", "We decided that the depot closes in May."),
        ("Decision: the Bremen depot now closes at 6 pm.", "Decision: the Gdansk depot now closes at 8 pm."),
        ("Option A was chosen for Bremen.", "Option B was chosen for Bremen."),
    ],
)
async def test_a_choice_about_something_else_replaces_nothing(earlier: str, later: str) -> None:
    for one_document in (False, True):
        assert await links(earlier, later, one_document=one_document) == []


async def test_another_revision_may_change_its_mind_without_saying_of_what() -> None:
    texts = ("Decision: Use MySQL.", "Decision: Actually, use Postgres instead.")
    (link,) = await links(*texts, one_document=True)
    assert link.kind == "supersedes"
    assert await links(*texts) == []


async def test_a_report_of_the_work_fulfils_the_promise_of_its_owner_only() -> None:
    (link,) = await links("Alice will write the postmortem by Friday.", "Alice wrote the postmortem.")
    assert link.kind == "fulfils"
    others = await links("Alice will write the postmortem by Friday.", "Bob wrote the postmortem.")
    assert all(link.suggested for link in others), "a person is asked at most"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("We agreed to hire two testers.", "We decided to paint the office blue."),
        ("We decided to use MySQL for billing.", "We decided to use MySQL for billing."),
        ("Alice will write the postmortem by Friday.", "We decided to sell the boat instead."),
    ],
)
async def test_unrelated_or_repeated_events_are_not_linked(earlier: str, later: str) -> None:
    assert await links(earlier, later) == []


async def test_another_version_is_not_the_one_that_is_replaced() -> None:
    adopted = "Decision: Version 2 of the retention policy applies from 15 May 2026."
    assert await links(adopted, "The policy was changed. It replaces version 1 of 1 February 2026.") == []


async def test_an_earlier_decision_is_ended_once_and_by_what_came_after_it() -> None:
    found = await links("Decision: launch on 3 May.", "Decision: launch on 10 June.", "Decision: launch on 1 July.")
    assert [(link.earlier[:2], link.later[:2]) for link in found] == [("0:", "1:"), ("1:", "2:")]


async def test_changes_between_revisions_are_added_dropped_and_changed() -> None:
    before = await events("Decision: Use MySQL.\n\nBen will call the vendor by Friday.\n\nWe decided to move house.")
    text = "Intro.\n\nDecision: Actually, use Postgres instead.\n\nBen will call the vendor by Monday.\n\n"
    after = await events(text + "Users reported that login is slow.")
    found = changes(before, after)
    assert [event.category.value for event in found.added] == ["Feedback"]
    assert ["move house" in event.narrative for event in found.dropped] == [True]
    assert [(pair.after.category.value, "due" in pair.fields) for pair in found.changed] == [
        ("Decision", False),
        ("Commitment", True),
    ]


async def test_text_that_only_moved_is_no_change() -> None:
    before = await events("We decided to wait.")
    after = await events("A new first line.\n\nWe decided to wait.")
    found = changes(before, after)
    assert (found.added, found.dropped, found.changed) == ((), (), ())


@pytest.mark.parametrize(
    "text",
    [
        "Ana Ortiz will send report 1 by 9 March 2025. Ana Ortiz will send report 2 by 16 March 2025.",
        "Decision: launch in Bergen on 3 May.\n\nDecision: launch in Oslo on 10 June.",
        "We decided to buy server 10 for the hall.\n\nWe decided to buy server 20 for the hall.",
    ],
)
async def test_two_of_a_kind_in_one_text_are_two(text: str) -> None:
    assert await links(text) == []


async def test_one_text_may_say_that_it_changes_its_mind() -> None:
    text = "Decision: launch on 3 May.\n\nDecision: actually, launch on 10 June."
    (link,) = await links(text)
    assert link.kind == "supersedes"


async def test_a_promise_of_another_number_is_another_promise() -> None:
    assert await links("Ana Ortiz will send report 1 by 9 March.", "Ana Ortiz will send report 2 by 16 March.") == []


# Each with each would be 125,000 and 500,000 comparisons.
@pytest.mark.parametrize("events", [500, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("said", "most_of_each"),
    [
        ("After all, we decided to buy server number {} for the hall.", 200),
        ("We decided to buy server number {} for the hall.", 0),
    ],
)
def test_what_is_compared_grows_with_the_text_and_not_with_its_square(
    said: str, most_of_each: int, events: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that only a number tells apart need no comparison at all, unless they speak of a change of mind."""
    alike = [
        Placed(_numbered(said, number), START + timedelta(minutes=number), "doc", "rev") for number in range(events)
    ]
    most = most_of_each * events
    compared = 0

    def count(later: Placed, earlier: Placed) -> None:
        nonlocal compared
        compared += 1

    monkeypatch.setattr(supersession, "link_between", count)
    assert links_with(alike, []) == []
    assert min(most, 1) <= compared <= most


def _numbered(said: str, number: int) -> SemanticEvent:
    quote = said.format(number)
    evidence = (Evidence(number * 100, number * 100 + len(quote), quote),)
    return SemanticEvent(
        f"evt_{number}", Category.DECISION, quote, Subject(f"server number {number}"), (), evidence, 0.9
    )


MYSQL = "We will use MySQL for the booking engine."
POSTGRES = "Decision: We use PostgreSQL instead of MySQL for the booking engine."


async def test_a_promise_to_bring_about_what_was_replaced_is_given_up() -> None:
    """The overdue move to MySQL, after MySQL was replaced."""
    found = await links(MYSQL, "Jonas will move the booking engine to MySQL by 20 February 2026.", POSTGRES)
    ended = {link.earlier[:2] for link in found if link.kind == "supersedes" and not link.suggested}
    assert ended == {"0:", "1:"}
    assert {link.later[:2] for link in found if not link.suggested} == {"2:"}


@pytest.mark.parametrize(
    "promise",
    [
        "Jonas will move the booking engine from MySQL by 20 February 2026.",
        "Jonas will export the bookings to MySQL by 20 February 2026.",
        "Jonas will move the newsletter to MySQL by 20 February 2026.",
        "Jonas will test the booking engine by 20 February 2026.",
    ],
)
async def test_a_promise_about_something_else_is_not_given_up(promise: str) -> None:
    assert [one.category for one in await events(promise, "note")] == [Category.COMMITMENT]
    found = await links(MYSQL, promise, POSTGRES)
    assert [link.earlier[:2] for link in found if link.kind == "supersedes" and not link.suggested] == ["0:"]


@pytest.mark.parametrize(
    "later",
    [
        "Decision: we reversed the decision of 5 March: no Saturday opening any more from 17 October.",
        "Decision: we took back the decision of 4 March, so the practice stays shut on Sundays from 17 October.",
    ],
)
async def test_a_decision_of_another_day_or_matter_is_not_taken_back_by_its_day(later: str) -> None:
    assert not await links("Decision: From 3 October the laundry collects twice a week.", later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "Decision: the cup deposit was rejected, we just buy glass ones.",
            "Decision: we no longer buy from Brightline.",
        ),
        ("After some back and forth we decided to raise the fee to 95 euro.", "Decision: back to 30 per team."),
        ("Decision: we buy new shelves for the store.", "The decision on the double shifts was withdrawn."),
    ],
)
async def test_words_that_turn_something_else_round_replace_nothing(earlier: str, later: str) -> None:
    assert [link for link in await links(earlier, later) if not link.suggested] == []
