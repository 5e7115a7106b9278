"""Claims about what a later statement says anew: it is told first, and what it changed is marked."""

from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.ask.quoting.features import amends
from mnemon.ask.quoting.statements import statements_in
from tests.semantics.conftest import ADA, Added, added, all_done, settings, work
from tests.work.conftest import eventually

from .test_standing import roles

__all__ = ["added", "all_done", "eventually", "settings", "work"]
Done = Callable[[], Awaitable[None]]

MINUTES = """# Meeting of the board, 4 May 2026

The new projector is bought from Helmbrecht for 1,900 euro.

The fence behind the shed is painted green.

## Supplement of 11 May

The purchase of the projector is cancelled: the hall already has one. No projector is bought.
"""
CHAT = """[01/06/2026, 09:02] Leonie: Who brings the tents to the summer camp?
[01/06/2026, 09:05] Bashir: I bring the tents for the camp.
[01/06/2026, 09:08] Yara: And I bring the stove.
[09/06/2026, 18:41] Bashir: Sorry, my car broke down.
[09/06/2026, 18:55] Leonie: Yara takes over the tents for the camp.
"""


async def test_a_decision_that_is_called_off_further_down_is_told_as_replaced(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added(MINUTES, "board.md")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "Is the new projector bought from Helmbrecht?")
    told = roles(answer)
    assert "cancelled" in told[0][2] or "No projector" in told[0][2], told
    assert all(role != "answer" for role, _, text in told if "1,900" in text), told


async def test_who_took_something_over_is_told_before_whom(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added(CHAT, "chat.txt")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "Who brings the tents to the camp?")
    told = roles(answer)
    assert "Yara takes over" in told[0][2], told
    assert [role for role, _, text in told if text == "I bring the tents for the camp."] in ([], ["replaced"]), told


@pytest.mark.parametrize("question", ["How much does the projector cost?", "What colour is the fence?"])
async def test_what_was_not_changed_is_not_marked(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done, question: str
) -> None:
    await added(MINUTES.split("## Supplement")[0], "board.md")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, question)
    assert {role for role, _, _ in roles(answer)} <= {"answer"}


REPORT = """# The boiler, 4 May 2026

Olga Brandt cancelled the order of the boiler at noon.

## Letter to the members, 6 May 2026

We cancelled the order of the boiler within an hour of the supplier's call.
"""


async def test_who_did_it_is_not_replaced_by_what_says_again_that_it_was_done(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added(REPORT, "boiler.md")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "Who cancelled the order of the boiler?")
    told = roles(answer)
    assert "Olga Brandt" in " ".join(text for role, _, text in told if role == "answer"), told
    assert all(role != "replaced" for role, _, _ in told), told


RACE = """# Thornhaven Lighthouse Marathon

## Distances

For the 10 km there are still places until 10 May.

## Changes of 12 May 2026

The 10 km is sold out as of 6 May, with 1,000 runners.
"""


async def test_a_section_of_changes_says_anew_what_was_said_above_it(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added(RACE, "race.md")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "Are there still places for the 10 km?")
    told = roles(answer)
    assert "sold out" in told[0][2], told
    assert [role for role, _, text in told if "still places" in text] == ["replaced"], told


@pytest.mark.parametrize(
    ("text", "amended"),
    [
        ("Update 25 April: the deadline is extended to 31 May.", True),
        ("Nachtrag vom 4. Mai: Es bleibt bei Halle 2.", True),
        ("The update is on sale since May.", False),
        ("Price: 4 EUR, changed daily.", False),
    ],
)
def test_a_label_tells_what_was_put_to_a_text_later(text: str, amended: bool) -> None:
    assert [amends(one) for one in statements_in(text, 0)] == [amended]


OVENS = """# Ovens

The engineer looked at the floor on 19 March: it does not carry the big oven. So we cancelled the order of the big oven.
"""
MEETING = """# Partners' meeting

Halima reported that two of the Saturday staff are ill.

- Halima: find a third person for the early shift by 30 April
"""
FAIR = """# Fair

It is planned for 27 June on the green.

The fair is postponed to 11 July, since the green is wet.
"""
TALK_OF_THE_FAIR = """[12/05/2026, 18:02:11] Amaka: who does the marquee this year?
[12/05/2026, 18:03:40] Gareth: I can ring Jenkins again
[14/05/2026, 09:20:45] Gareth: they are only free on the 25th
[14/05/2026, 09:40:00] Tadeusz: bouncy castle booked for the 25th, deposit paid
"""


async def test_a_reason_that_stands_in_the_sentence_before_is_told(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added(OVENS, "ovens.md")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "Why was the order of the big oven cancelled?")
    assert "does not carry" in answer.text, roles(answer)


async def test_an_early_shift_moves_nothing(mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done) -> None:
    await added(MEETING, "meeting.md")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "What does Halima have to do?")
    assert {role for role, _, _ in roles(answer)} == {"answer"}, roles(answer)


async def test_what_a_heading_tells_the_matter_of_is_moved_too(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added(FAIR, "fair.md")
    await all_done()
    told = roles(await mnemon.asking.ask(tenant, ADA, "When is the fair?"))
    assert "11 July" in told[0][2], told
    assert all(role == "replaced" for role, _, text in told if "27 June" in text), told


async def test_nobody_is_quoted_about_what_only_another_speaks_of(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added(TALK_OF_THE_FAIR, "chat.txt")
    await all_done()
    refused = await mnemon.asking.ask(tenant, ADA, "What did Gareth say about the bouncy castle?")
    assert refused.outcome == "refused", roles(refused)
    answer = await mnemon.asking.ask(tenant, ADA, "What did Gareth say about the marquee?")
    assert "Jenkins" in answer.text, roles(answer)
