"""Claims about what holds: an answer never rests on what was replaced, withdrawn or denied without saying so."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.ask.answer import Answer, Asking
from mnemon.ask.inputs import PassageFilters
from mnemon.db.database import Database
from mnemon.log.store import EventLog
from mnemon.models.language import NoLanguageModel
from tests.documents.sample_chunks import put
from tests.semantics.conftest import ADA, Added, added, all_done, settings, work
from tests.work.conftest import eventually

from .conftest import searcher_of
from .test_answer import log

__all__ = ["added", "all_done", "eventually", "log", "settings", "work"]
Done = Callable[[], Awaitable[None]]


async def ask(database: Database, log: EventLog, tenant: UUID, question: str, **filters: object) -> Answer:
    asking = Asking(searcher_of(database, None), log, NoLanguageModel())
    return await asking.ask(tenant, ADA, question, PassageFilters.model_validate(filters))


def roles(answer: Answer) -> list[tuple[str, str, str]]:
    return [(one.role, one.note, one.text) for one in answer.sentences]


async def test_a_replaced_decision_comes_after_the_one_that_stands(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added("Date: 2026-03-02\n\nDecision: we drop Python 3.10 in the release.", "first.txt")
    await added("Date: 2026-03-16\n\nDecision: we keep Python 3.10 instead of dropping it.", "second.txt")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "Do we support Python 3.10?")
    stands, replaced = answer.sentences
    assert (stands.role, "keep" in stands.text, stands.note) == ("answer", True, "")
    assert replaced.role in ("replaced", "earlier") and "March 2026:" in replaced.note
    assert "drop Python 3.10 in the release" in replaced.text
    assert answer.text.startswith(stands.text) and replaced.note in answer.text


async def test_an_event_that_was_replaced_names_the_day_and_its_successor(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added("Date: 2026-03-02\n\nDecision: we use MySQL for the event store.", "march.txt")
    await added("Date: 2026-04-02\n\nDecision: we use Postgres instead of MySQL for the event store.", "april.txt")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "Is MySQL used for the event store?")
    assert "Postgres" in answer.sentences[0].text
    assert [one.note for one in answer.sentences[1:]] in ([], ["Replaced on 2 April 2026:"])


async def test_a_denial_comes_before_what_it_denies(database: Database, tenant: UUID, log: EventLog) -> None:
    rumour = "There is a rumour that the company is selling the Hamburg site."
    denial = "The managing director said that this is not true: it stays."
    await put(database, tenant, [f"{rumour} {denial} Parking is free from June on."])
    answer = await ask(database, log, tenant, "Is the company selling the Hamburg site?")
    assert roles(answer) == [("answer", "", denial), ("denied", "Denied there:", rumour)]


async def test_the_newer_of_two_documents_comes_first(database: Database, tenant: UUID, log: EventLog) -> None:
    await put(database, tenant, ["The guest fee is 12 euros a night."], written_at=datetime(2026, 1, 5, tzinfo=UTC))
    await put(database, tenant, ["The guest fee is 15 euros a night."], written_at=datetime(2026, 4, 7, tzinfo=UTC))
    answer = await ask(database, log, tenant, "How much is the guest fee?")
    assert roles(answer) == [
        ("answer", "", "The guest fee is 15 euros a night."),
        ("earlier", "Earlier, on 5 January 2026:", "The guest fee is 12 euros a night."),
    ]


async def test_sources_of_one_day_that_disagree_are_both_told(database: Database, tenant: UUID, log: EventLog) -> None:
    await put(database, tenant, ["The guest fee is 12 euros a night."], title="One")
    await put(database, tenant, ["The guest fee is 15 euros a night."], title="Other")
    answer = await ask(database, log, tenant, "How much is the guest fee?")
    assert [one.role for one in answer.sentences] == ["answer", "disagrees"]
    assert "The sources disagree" in answer.text and "12" in answer.text and "15" in answer.text


async def test_words_of_an_old_version_say_which_it_is(database: Database, tenant: UUID, log: EventLog) -> None:
    doc_id, old = await put(database, tenant, ["Bookings are kept for 24 months."])
    await put(database, tenant, ["Bookings are kept for 12 months."], doc_id=doc_id)
    question = "How long are bookings kept?"
    answer = await ask(database, log, tenant, question, doc_version_id=old)
    assert answer.sentences[0].note.startswith("Version 1, replaced on ")
    assert answer.sentences[0].note.endswith(" by version 2:")
    assert (await ask(database, log, tenant, question)).sentences[0].note == ""


CHAT = """[12/11/2026, 09:02] Leonie: Morning all, tasting for the winter menu is on Thursday at 15:00 in the kitchen.
[12/11/2026, 09:05] Bashir: ok, I bring the beetroot
[12/11/2026, 09:08] Bashir: I'll order the duck from Hofladen by Wednesday.
[12/11/2026, 11:41] Leonie: Sorry, the supplier comes at three. Let's do the tasting at 17:30 instead.
[12/11/2026, 11:44] Bashir: fine with me
[13/11/2026, 08:16] Leonie: And the budget for the tasting is 180 euro.
"""


@pytest.mark.parametrize("question", ["When is the tasting?", "At what time is the winter menu tasting on Thursday?"])
async def test_a_later_message_that_moves_the_hour_comes_first(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done, question: str
) -> None:
    await added(CHAT, "chat.txt")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, question)
    moved, before = answer.sentences[:2]
    assert (moved.role, moved.note) == ("answer", "") and "17:30 instead" in moved.text, roles(answer)
    assert (before.role, before.note) == ("replaced", "Replaced on 12 November 2026:"), roles(answer)
    assert "15:00" in before.text


async def test_who_asks_for_the_original_hour_gets_it(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:  # fmt: skip
    await added(CHAT, "chat.txt")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "When was the tasting originally?")
    assert "15:00" in answer.sentences[0].text and answer.sentences[0].note == ""


async def test_a_note_that_changes_its_mind_says_both(database: Database, tenant: UUID, log: EventLog) -> None:
    rented = "We rented the van from Kowalski for 2 December, 8:00."
    moved = "Keys come on 8 December, so the van is moved to 9 December, same hour."
    party = "The mayor moved to another town on 3 May."
    await put(database, tenant, [f"{rented}\n\nThe floor is not dry yet. {moved}\n\n{party}"])
    answer = await ask(database, log, tenant, "When is the van rented?")
    assert roles(answer) == [("answer", "", moved), ("replaced", "Replaced since:", rented)]


async def test_what_was_only_thought_of_moves_nothing(database: Database, tenant: UUID, log: EventLog) -> None:
    rented = "We rented the van from Kowalski for 2 December."
    await put(database, tenant, [f"{rented}\n\nMaybe the van could be moved to 9 December instead."])
    answer = await ask(database, log, tenant, "When is the van rented?")
    assert roles(answer)[0] == ("answer", "", rented)
    assert "replaced" not in [one.role for one in answer.sentences]


async def test_a_denial_in_another_section_denies_nothing(database: Database, tenant: UUID, log: EventLog) -> None:
    cost, rumour = "A new autoclave would cost about 7,800 euros.", "Some say that Desifor is banned."
    await put(database, tenant, [f"## Risk\n{cost}\n\n## Rumour\n{rumour} That is not true, it is licensed."])
    answer = await ask(database, log, tenant, "How much would a new autoclave cost?")
    assert ("answer", "", cost) in roles(answer)
    assert not [one for one in answer.sentences if one.role == "denied" and one.text == cost]


def mail(number: int, day: str, who: str, words: str) -> str:
    return (
        f"From: {who}\nTo: list@club.example\nSubject: {'Re: ' if number else ''}Boat trailer\n"
        f"Date: {day} Oct 2026 09:00:00 +0000\nMessage-ID: <t{number}@club.example>\n\n{words}\n"
    )


TRAILER = [
    mail(0, "Mon, 05", "Marta <marta@club.example>", "Please send us an offer for a boat trailer."),
    mail(1, "Tue, 06", "Karl <karl@heku.example>", "The trailer costs 5,400 EUR. Delivery takes six weeks."),
    mail(2, "Wed, 07", "Marta <marta@club.example>", "> The trailer costs 5,400 EUR.\n\nThat is more than we have."),
    mail(3, "Thu, 08", "Karl <karl@heku.example>", "We can lower the price to 4,950 EUR if you order in October."),
    mail(
        4,
        "Fri, 09",
        "Karl <karl@heku.example>",
        "The trailer is ready. Our fax number has changed to 4711.",
    ),
]


async def test_a_price_that_a_later_mail_of_the_thread_lowers_comes_after_the_lower_one(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    for number, one in enumerate(TRAILER):
        await added(one, f"trailer-{number}.eml")
    await added(TRAILER[3].replace("Boat trailer", "Rowing seats").replace("t3@", "s3@"), "seats.eml")
    for number in range(12):
        await added(f"# Price {number}\n\nThe boat number {number} costs {number}00 EUR.\n", f"price-{number}.md")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "What does the boat trailer cost?")
    [lower, before] = answer.sentences[:2]
    assert (lower.role, lower.note) == ("answer", "") and "4,950" in lower.text, roles(answer)
    assert (before.role, before.note) == ("replaced", "Replaced on 8 October 2026:"), roles(answer)
    assert "5,400" in before.text


async def test_a_new_one_named_later_in_a_chat_stands_before_the_old_one(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    chat = (
        "[12/10/2026, 09:00] Marta: the key box code is 4711\n[15/10/2026, 08:16] Jonas: done, the new code is 8352\n"
    )
    await added(chat, "chat.txt")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "What is the key box code?")
    assert [("8352" in one.text, one.role) for one in answer.sentences[:2]] == [(True, "answer"), (False, "replaced")]


async def test_a_price_in_a_column_with_its_currency_is_an_amount(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added("item,supplier,unit price EUR\nOars (pair),Croker,489.00\nLife jacket,Secumar,79.90\n", "prices.csv")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "How much did the oars cost?")
    assert "489.00" in answer.text and "79.90" not in answer.text


async def test_a_bound_and_a_lower_part_alter_no_figure(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    told = "The rent rises by no more than 3 percent a year."
    others = "The tenant pays repairs of the rent shed up to 150 EUR. Lower the blade of the rent shed by hand."
    await added(f"# Lease\n\n{told}\n\n{others}\n", "lease.md")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "By how much may the rent rise each year?")
    assert roles(answer)[0] == ("answer", "", told), roles(answer)
    assert "replaced" not in {one.role for one in answer.sentences}


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who keeps a rain diary?", "Inés keeps a rain diary for us. Maybe the whole idea of valleys is wrong."),
        (
            "Who has the silent freezer alarm?",
            "| R1 | the freezer alarm is silent | Rory |\n| R2 | rumour of a strike | closed: was false |",
        ),
        (
            "How long does a player with a head knock sit out?",
            "- A player with a head knock sits out for 14 days.\n- The rumour that we give up the courts is not true.",
        ),
    ],
)
async def test_what_is_wrong_of_another_matter_denies_nothing(
    database: Database, tenant: UUID, log: EventLog, question: str, text: str
) -> None:
    await put(database, tenant, [text])
    answer = await ask(database, log, tenant, question)
    assert answer.outcome == "answered"
    assert {one.role for one in answer.sentences} <= {"answer"}, roles(answer)


async def test_a_denial_of_the_next_statement_denies_nothing_before_it(
    database: Database, tenant: UUID, log: EventLog
) -> None:
    lift, rent = "The lift in the old mill was repaired on Monday.", "Somebody wrote that the rent goes up in May."
    await put(database, tenant, [f"{lift} {rent} This is wrong, it stays. The yard is swept on Fridays."])
    answer = await ask(database, log, tenant, "Was the lift in the old mill repaired?")
    assert roles(answer)[0] == ("answer", "", lift)
    assert "denied" not in [one.role for one in answer.sentences]


async def test_what_a_denial_names_is_what_it_denies(database: Database, tenant: UUID, log: EventLog) -> None:
    pond = "The garden of the school gets a pond this summer."
    await put(database, tenant, [f"{pond} It is not true that a child fell off the wall. Lunch is at noon."])
    answer = await ask(database, log, tenant, "Does the garden of the school get a pond?")
    assert roles(answer)[0] == ("answer", "", pond)
    assert "denied" not in [one.role for one in answer.sentences]


@pytest.mark.parametrize(
    ("question", "stands", "of_another"),
    [
        ("How much are the fees for adults?", "The fees for adults are 240 euro.",
         "The fees for children are reduced to 80 euro."),
        ("When does the main gate close?", "The main gate closes at 20:00.",
         "The side gate no longer closes at 21:00 but at 18:00."),
        ("When is the training on Thursday?", "The training on Thursday begins at 18:00.",
         "The training on Sunday is moved to 11:00."),
    ],
)  # fmt: skip
async def test_a_change_of_another_thing_replaces_nothing(
    database: Database, tenant: UUID, log: EventLog, question: str, stands: str, of_another: str
) -> None:
    await put(database, tenant, [f"{stands}\n\nThe floor is swept on Mondays.\n\n{of_another}"])
    answer = await ask(database, log, tenant, question)
    assert ("answer", "", stands) in roles(answer)
    assert "replaced" not in [one.role for one in answer.sentences]
