"""Claims about follow-ups: they lean on what the same person asked before, say so, and are forgotten with it."""

from uuid import UUID

import pytest

from mnemon.ask.answer import Answer, Asking
from mnemon.ask.conversing.following import AskedBefore, in_full
from mnemon.ask.inputs import Question
from mnemon.ask.query_log import ASKED
from mnemon.db.database import Database
from mnemon.log.events import Actor
from mnemon.log.read.streams import Stream
from mnemon.log.store import EventLog
from mnemon.models.language import NoLanguageModel
from tests.documents.sample_chunks import put

from .conftest import searcher_of
from .test_answer import ADA, PURGE, log

__all__ = ["log"]
SHIFT = AskedBefore(
    "What was decided about the night shift?", ["We start the night shift in June, as Ada Byron proposed."], ["Ben Ito"]
)
AGAINST = AskedBefore("and who was against it (night shift byron)?")
PRICED = AskedBefore("What did we decide about the van rental?", ["We take the Nordwagen offer for 89 EUR a month."])
DUTIES = AskedBefore("What does Ada have to do in March?")
MINUTES = [
    "The night shift starts in June. Carla Reyes was against the night shift because of the buses.",
    "The parking fee is 12 euros. Doris Lang was against the parking fee.",
]


@pytest.mark.parametrize(
    ("question", "before", "full"),
    [
        ("and who was against it?", SHIFT, "and who was against it (night shift)?"),
        ("Why?", SHIFT, "Why (night shift)?"),
        ("Und wer war dagegen?", SHIFT, "Und wer war dagegen (night shift)?"),
        ("When does he leave?", SHIFT, "When does Ben Ito leave (night shift)?"),
        ("and in April?", SHIFT, "What was decided about the night shift in April?"),
        ("and Ben?", DUTIES, "What does Ben have to do in March?"),
        ("What about April?", DUTIES, "What does Ada have to do in April?"),
        ("and in May 2025?", DUTIES, "What does Ada have to do in May 2025?"),
        ("and who was against it?", PRICED, "and who was against it (van rental nordwagen)?"),
        ("And the parking?", AGAINST, "and who was against it (the parking)?"),
        ("And the parking fee?", SHIFT, "What was decided about the parking fee?"),
        ("and what about the canteen?", SHIFT, "What was decided about the canteen?"),
        ("and about parking?", SHIFT, "What was decided about parking?"),
        ("and for guests?", SHIFT, "What was decided about the night shift for guests?"),
        ("und die Küche?", AskedBefore("Wer ist zuständig für den Hof?"), "Wer ist zuständig für die Küche?"),
        ("How many days of holiday do I get?", SHIFT, None),
        ("Who approved that budget?", SHIFT, None),
        ("Wo hat der Verein seinen Sitz?", SHIFT, None),
        ("When do Carla and her brother meet the club and its guests?", SHIFT, None),
        ("Wo ist sein Büro?", SHIFT, "Wo ist Ben Ito’s Büro (night shift)?"),
    ],
)
def test_a_follow_up_is_asked_in_full_and_others_as_they_are(
    question: str, before: AskedBefore, full: str | None
) -> None:
    assert in_full(question, before) == full


async def ask(database: Database, log: EventLog, tenant: UUID, question: str, actor: Actor = ADA) -> Answer:
    asked = Question(question=question, conversation_id="shifts")
    return await Asking(searcher_of(database, None), log, NoLanguageModel()).ask(tenant, actor, question, asked)


async def test_a_follow_up_is_answered_from_its_conversation_alone(
    database: Database, log: EventLog, tenant: UUID
) -> None:
    _, revision = await put(database, tenant, MINUTES)
    await ask(database, log, tenant, "When does the night shift start?")
    answer = await ask(database, log, tenant, "and who was against it?")
    assert answer.question == "and who was against it?"
    assert answer.understood == {"asked_as": "and who was against it (night shift start)?"}
    assert "Carla Reyes" in answer.sentences[0].text
    reason = await ask(database, log, tenant, "Why?")
    assert "because of the buses" in reason.text

    # The same name is nobody else's conversation, and word by word nothing is added.
    ben = await ask(database, log, tenant, "and who was against it?", Actor("human", "user:ben"))
    assert ben.understood == {}
    plain = Question(question="Why?", conversation_id="shifts", as_words=True)
    alone = await Asking(searcher_of(database, None), log, NoLanguageModel()).ask(tenant, ADA, "Why?", plain)
    assert alone.understood == {}

    page = await log.read_page(tenant, Stream.of_type(ASKED.type), direction="backward", limit=1)
    assert page.events[0].data["conversation"] == "shifts"
    assert "shifts" not in str(page.events[0].entities)
    # Sealed with the asker's key: whoever is erased leaves no conversation.
    assert {one.path for one in ASKED.personal_fields} == {"question", "filters", "conversation", "salt"}

    async with database.transaction(tenant) as tx:
        await tx.execute(PURGE, (revision,))
    after = await ask(database, log, tenant, "Since when?")
    assert "buses" not in str(after.understood)


async def test_who_objected_below_the_heading_of_the_matter_was_against_it(
    database: Database, log: EventLog, tenant: UUID
) -> None:
    text = (
        "## Coffee machine\n\nThe coffee machine of Bohnwerk was offered by Bo Lind for 89 EUR a month.\n\n"
        "Tomas Reyes objected that 89 EUR is too much.\n\n## Summer party\n\nThe party is in July."
    )
    await put(database, tenant, [text])
    asking = Asking(searcher_of(database, None), log, NoLanguageModel())
    answer = await asking.ask(tenant, ADA, "Who was against the coffee machine?")
    assert answer.outcome == "answered"
    assert answer.sentences[0].text == "Tomas Reyes objected that 89 EUR is too much."
