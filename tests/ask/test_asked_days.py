"""Claims about a day that a question names: what is of another day is no answer, and is shown as what it is."""

from collections.abc import Awaitable, Callable
from datetime import date
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.ask.inputs import Question
from mnemon.ask.quoting.surroundings import read_stretches
from tests.semantics.conftest import ADA, Added, added, all_done, settings, work
from tests.work.conftest import eventually

__all__ = ["added", "all_done", "eventually", "settings", "work"]
Done = Callable[[], Awaitable[None]]


def minutes(day: str, *decided: str) -> str:
    return f"Committee meeting\n\nDate: {day}\n\nDecisions\n" + "".join(f"- The committee {one}.\n" for one in decided)


@pytest.mark.parametrize(
    ("question", "later"),
    [
        ("What did the committee decide on 3 April?", minutes("2026-04-21", "decided to close the north gate")),
        ("Was wurde am 3. April beschlossen?", "Datum: 21.04.2026\n\nEs wurde beschlossen, das Tor zu schließen."),
    ],
)
async def test_what_was_decided_on_another_day_is_no_answer(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done, question: str, later: str
) -> None:
    await added(later, "later.txt")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, question)
    assert answer.refusal and answer.refusal.code == "another_time", answer.text
    assert answer.frames.day(date(2026, 4, 21)) in answer.refusal.message and answer.understood["time"].startswith("3")
    assert [one.day for one in answer.refusal.near_misses] == [date(2026, 4, 21)]
    plain = Question(question=question, as_words=True)
    assert "time" not in (await mnemon.asking.ask(tenant, ADA, question, plain)).understood


async def test_the_day_that_is_asked_for_is_found_among_many(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    for day in range(10, 28):
        await added(
            minutes(f"2026-04-{day}", f"decided about the committee and what they decide on {day}"), f"{day}.txt"
        )
    await added(minutes("2026-04-03", "keeps the harbour fee as it is"), "that.txt")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "What did the committee decide on 3 April?")
    assert answer.text == "The committee keeps the harbour fee as it is."


async def test_a_day_that_the_text_names_counts(mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done) -> None:
    await added("Date: 2026-04-21\n\nOn April 3rd the committee decided to close the north gate.", "later.txt")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "What did the committee decide on 3 April?")
    assert "north gate" in answer.text


async def test_the_words_of_a_talk_are_cited_with_the_day_on_which_they_were_said(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    talk = (
        "[14/09/2026, 08:02] Lucy Fairweather: Morning! Marijke is back\n"
        "[09/10/2026, 18:41] Pete Novak: Fridge alarm is installed, sends a text to Lucy and me\n"
    )
    await added(talk, "chat.txt")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "When was the fridge alarm installed?")
    assert answer.citations[0].said_on == date(2026, 10, 9)


async def test_a_message_beside_the_one_that_was_found_keeps_its_own_day(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added(
        "03/02/2026, 08:02 - Ines Roth: eleven boats are on the list\n"
        "19/02/2026, 18:41 - Pete Novak: what a regatta, the sailmakers came first\n",
        "chat.txt",
    )
    await all_done()
    found = await mnemon.searcher.search(tenant, "How many boats are on the list?", limit=1)
    async with mnemon.database.transaction(tenant) as tx:
        [stretch] = await read_stretches(tx, found.hits)
    assert [stretch.day_at(one.start) for one in stretch.statements] == [date(2026, 2, 3), date(2026, 2, 19)]
