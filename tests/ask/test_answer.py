"""An answer has proof for every sentence and opens it for ever; what cannot be proven is not said."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from mnemon.ask.answer import Answer, Asking
from mnemon.ask.citations import open_evidence
from mnemon.ask.inputs import PassageFilters, Question
from mnemon.ask.query_log import ASKED
from mnemon.ask.search import Searcher
from mnemon.ask.written import Quote, WrittenAnswer, WrittenSentence
from mnemon.db.database import Database
from mnemon.errors import InvalidRequest, NotFound
from mnemon.ids import new_uuid
from mnemon.log.events import Actor
from mnemon.log.read.streams import Stream
from mnemon.log.store import EventLog
from mnemon.models.failures import LanguageModelUnavailable
from mnemon.models.language import LanguageModel, NoLanguageModel
from mnemon.models.speaker import Spoken
from tests.documents.sample_chunks import put
from tests.models.scripted import Line, ScriptedSpeaker, scripted_model

from .conftest import TopicEmbedder, searcher_of

ADA = Actor("human", "user:ada")
PURGE = "UPDATE mnemon.document_revisions SET purged_at = now(), is_active = false WHERE doc_version_id = %s"
MINUTES = [
    "The weather was bad. The board approved the budget of 40,000 euros on 3 May. Coffee was served.",
    "The violin concert was moved to June. Ada promised to call the lawyer about the contract.",
]


@pytest.fixture
async def log(database: Database) -> AsyncIterator[EventLog]:
    async with EventLog(database) as opened:
        yield opened


def asking(searcher: Searcher, log: EventLog, *lines: Line) -> Asking:
    model: LanguageModel = scripted_model(ScriptedSpeaker(*lines)) if lines else NoLanguageModel()
    return Asking(searcher, log, model)


async def put_minutes(database: Database, tenant: UUID) -> UUID:
    _, revision = await put(database, tenant, MINUTES, await TopicEmbedder().embed(MINUTES), title="Board minutes")
    return revision


async def assert_opens(database: Database, tenant: UUID, answer: Answer) -> None:
    assert answer.citations
    async with database.transaction(tenant) as tx:
        for citation in answer.citations:
            evidence = await open_evidence(tx, citation.doc_version_id, citation.start, citation.end)
            assert evidence.quote == citation.quote


async def test_a_heading_is_no_answer(database: Database, tenant: UUID, searcher: Searcher, log: EventLog) -> None:
    passages = ["## 2. Budget for the concert\n\nIt was set at 900 euros for the concert."]
    await put(
        database,
        tenant,
        passages,
        await TopicEmbedder().embed(passages),
        headings=["Minutes", "2. Budget for the concert"],
    )
    answer = await asking(searcher, log).ask(tenant, ADA, "What is the budget for the concert?")
    assert [citation.quote for citation in answer.citations] == ["It was set at 900 euros for the concert."]


async def test_an_answer_is_explained_where_that_is_asked(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    await put_minutes(database, tenant)
    asked = Question(question="How large is the budget that the board approved?", explain=True)
    answer = await asking(searcher, log).ask(tenant, ADA, asked.question, asked)
    why = answer.explanation
    assert why is not None and why.kind == "how_much" and why.chance == round(answer.strength, 4) >= why.enough
    assert "approved the budget" in why.best[0].text and why.best[0].adds["own"] > 0
    assert sum(why.best[0].adds.values()) == pytest.approx(why.best[0].score, abs=0.1)
    assert (await asking(searcher, log).ask(tenant, ADA, asked.question)).explanation is None


async def test_what_stands_below_a_heading_need_not_repeat_it(database: Database, tenant: UUID, log: EventLog) -> None:
    lexical, question = searcher_of(database, None), "Which payment deadline holds for late freelancer invoices?"
    passages = ["Thirty days hold for invoices."]
    await put(database, tenant, passages, title="Rules")
    refused = await asking(lexical, log).ask(tenant, ADA, question)
    assert refused.refusal is not None
    assert refused.refusal.code == "weak_evidence"
    await put(database, tenant, passages, title="Rules", headings=["Freelancers", "Payment deadline"])
    answer = await asking(lexical, log).ask(tenant, ADA, question)
    assert [citation.quote for citation in answer.citations] == passages
    assert answer.citations[0].headings == ["Freelancers", "Payment deadline"]


async def test_a_heading_alone_does_not_make_another_question_answerable(
    database: Database, tenant: UUID, log: EventLog
) -> None:
    await put(database, tenant, ["Thirty days hold for invoices."], title="Rules", headings=["Payment deadline"])
    answer = await asking(searcher_of(database, None), log).ask(
        tenant, ADA, "Which submarine did the Peruvian navy sell before the deadline?"
    )
    assert answer.outcome == "refused"


async def test_the_header_of_a_mail_is_no_answer(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    passages = [
        "From: Ada <ada@example.org>\nTo: all\nSubject: The budget of the concert\n\nThe budget is 900 euros.",
    ]
    await put(database, tenant, passages, await TopicEmbedder().embed(passages))
    answer = await asking(searcher, log).ask(tenant, ADA, "What is the budget of the concert?")
    assert [citation.quote for citation in answer.citations] == ["The budget is 900 euros."]


async def test_how_long_is_answered_by_a_time_and_not_by_the_word_long(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    passages = ["- Bo to measure how long it takes at the office.", "- Contracts are kept for 12 months."]
    await put(database, tenant, passages, await TopicEmbedder().embed(passages))
    answer = await asking(searcher, log).ask(tenant, ADA, "How long is a contract kept?")
    assert [citation.quote for citation in answer.citations] == ["Contracts are kept for 12 months."]
    await assert_opens(database, tenant, answer)


async def test_without_a_model_the_answer_is_the_sentence_that_says_it(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    await put_minutes(database, tenant)
    answer = await asking(searcher, log).ask(tenant, ADA, "When did the board approve the budget?")
    assert answer.text == "The board approved the budget of 40,000 euros on 3 May."
    assert answer.model is None
    await assert_opens(database, tenant, answer)


async def test_sentences_stand_in_reading_order(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    passages = ["Coffee was served. The board approved the budget. The board approved the contract."]
    await put(database, tenant, passages, await TopicEmbedder().embed(passages))
    answer = await asking(searcher, log).ask(tenant, ADA, "What did the board approve?")
    assert answer.text == "The board approved the budget. The board approved the contract."


async def test_a_refusal_says_what_was_searched_and_lists_near_misses(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    await put_minutes(database, tenant)
    answer = await asking(searcher, log).ask(tenant, ADA, "Which submarine did the Peruvian navy sell to the board?")
    assert (answer.outcome, answer.sentences) == ("refused", [])
    assert answer.refusal is not None
    assert answer.refusal.code == "weak_evidence"
    assert answer.refusal.searched.chunks == 2
    assert {"submarine", "peruvian", "navy"} <= set(answer.refusal.searched.unknown_words)
    text = "\n\n".join(MINUTES)
    assert answer.refusal.near_misses
    for miss in answer.refusal.near_misses:
        assert miss.relevant
        assert text[miss.start : miss.end] == miss.snippet


async def test_a_refusal_of_what_nothing_comes_near_shows_the_nearest_as_such(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    passages = ["The budget is large."]
    await put(database, tenant, passages, await TopicEmbedder().embed(passages))
    question = "Which violin sank?"
    assert (await searcher.search(tenant, question)).hits == []
    refusal = (await asking(searcher, log).ask(tenant, ADA, question)).refusal
    assert refusal is not None
    assert (refusal.code, refusal.message) == ("nothing_found", "No passage comes near enough to the question.")
    assert refusal.near_misses and not any(miss.relevant for miss in refusal.near_misses)
    steps = [step async for step in asking(searcher, log).stream(tenant, ADA, question)]
    assert [name for name, _ in steps] == ["evidence", "refusal", "done"] and steps[0][1]["passages"] == []


async def test_where_nothing_is_stored_the_answer_is_a_refusal(tenant: UUID, searcher: Searcher, log: EventLog) -> None:
    answer = await asking(searcher, log).ask(tenant, ADA, "Is anyone there?")
    assert answer.refusal is not None
    assert answer.refusal.code == "nothing_found"


async def test_what_someone_else_said_is_no_answer(database: Database, tenant: UUID, log: EventLog) -> None:
    lexical = searcher_of(database, None)
    await put(database, tenant, ["Bert: I adopted a ferret from the shelter in spring."], speaker="Bert", title="Chat")
    await put(database, tenant, ["Ada: That is lovely, Bert!"], speaker="Ada", title="Chat")
    asked = asking(lexical, log)
    about_ada = await asked.ask(tenant, ADA, "Where did Ada adopt a ferret?")
    assert about_ada.refusal is not None
    assert "not about Ada" in about_ada.refusal.message
    assert about_ada.refusal.near_misses[0].snippet.startswith("Bert:")
    assert (await asked.ask(tenant, ADA, "Where did Bert adopt a ferret?")).outcome == "answered"


async def test_an_old_answer_opens_the_old_version_after_a_newer_one(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    doc_id, old = await put(database, tenant, ["The limit is 100 ferrets."])
    answer = await asking(searcher, log).ask(tenant, ADA, "What is the limit of ferrets?")
    _, new = await put(database, tenant, ["By the way: the limit is 200 ferrets."], doc_id=doc_id)
    newer = await asking(searcher, log).ask(tenant, ADA, "What is the limit of ferrets?")
    assert (answer.citations[0].doc_version_id, newer.citations[0].doc_version_id) == (old, new)
    assert answer.citations[0].quote == "The limit is 100 ferrets."
    await assert_opens(database, tenant, answer)
    await assert_opens(database, tenant, newer)


def written(*sentences: tuple[str, str]) -> WrittenAnswer:
    return WrittenAnswer(
        sentences=[WrittenSentence(text=text, quotes=[Quote(passage=1, quote=quote)]) for text, quote in sentences]
    )


async def test_a_quote_that_is_not_found_drops_its_sentence(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    await put_minutes(database, tenant)
    model = written(
        ("The board approved 40,000 euros.", "approved the budget of 40,000 euros"),
        ("The chair resigned over the budget.", "the chair resigned over the budget"),
        ("The budget is 90,000 euros.", "The board approved the budget"),
        ("Dolphins communicate through whistles underwater.", "Coffee was served"),
    )
    answer = await asking(searcher, log, model).ask(tenant, ADA, "Did the board approve the budget?")
    assert [sentence.text for sentence in answer.sentences] == ["The board approved 40,000 euros."]
    assert (answer.dropped, answer.model) == (3, "scripted")
    await assert_opens(database, tenant, answer)


async def test_a_quote_is_found_with_other_quote_marks_and_spaces_and_in_another_passage(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    await put(database, tenant, ["She said: “the  budget\nis final”, and left the board.", "Nothing here of use."])
    model = WrittenAnswer(
        sentences=[
            WrittenSentence(text="The budget is final.", quotes=[Quote(passage=7, quote='"the budget is final"')])
        ]
    )
    answer = await asking(searcher, log, model).ask(tenant, ADA, "Is the board budget final?")
    assert answer.citations[0].quote == "“the  budget\nis final”"
    await assert_opens(database, tenant, answer)


async def test_an_answer_with_no_proof_left_is_a_refusal(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    await put_minutes(database, tenant)
    model = written(("The chair resigned.", "the chair has resigned"))
    answer = await asking(searcher, log, model).ask(tenant, ADA, "Did the board approve the budget?")
    assert answer.refusal is not None
    assert (answer.refusal.code, answer.dropped) == ("no_proof", 1)


async def test_a_model_that_fails_leaves_an_answer_in_quotes(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    await put_minutes(database, tenant)
    down = [LanguageModelUnavailable("down")] * 10
    answer = await asking(searcher, log, *down).ask(tenant, ADA, "Did the board approve the budget?")
    assert (answer.outcome, answer.model) == ("answered", None)


async def test_every_question_is_in_the_log_with_its_evidence_but_without_the_quotes(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    await put_minutes(database, tenant)
    answer = await asking(searcher, log).ask(tenant, ADA, "When did the board approve the budget?")
    await asking(searcher, log).ask(tenant, ADA, "Which submarine did the Peruvian navy sell?")
    page = await log.read_page(tenant, Stream("type", ASKED.type))
    first, second = (event.data for event in page.events)
    assert (first["outcome"], second["outcome"]) == ("answered", "refused")
    assert first["subject"] == ADA.id
    citation = answer.citations[0]
    assert first["evidence"] == [
        {"doc_version_id": str(citation.doc_version_id), "start": citation.start, "end": citation.end}
    ]
    assert citation.quote not in str(first)
    assert second["near_misses"]


@pytest.mark.parametrize(("start", "end"), [(5, 5), (9, 3), (0, 10_000), (0, 1_000_000)])
async def test_a_span_that_is_none_is_refused(database: Database, tenant: UUID, start: int, end: int) -> None:
    revision = await put_minutes(database, tenant)
    async with database.transaction(tenant) as tx:
        with pytest.raises(InvalidRequest):
            await open_evidence(tx, revision, start, end)


async def test_evidence_of_another_tenant_is_not_there(database: Database, tenant: UUID, other_tenant: UUID) -> None:
    revision = await put_minutes(database, other_tenant)
    for unknown in (revision, new_uuid()):
        async with database.transaction(tenant) as tx:
            with pytest.raises(NotFound):
                await open_evidence(tx, unknown, 0, 5)


async def test_what_is_purged_while_the_model_writes_is_not_shown(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    revision = await put_minutes(database, tenant)

    class Purging(ScriptedSpeaker):
        async def say(self, *values: Any, **options: Any) -> Spoken:
            async with database.owner() as owner:
                await owner.execute(PURGE, (revision,))
            return await super().say(*values, **options)

    line = written(("The board approved the budget of 40,000 euros.", "approved the budget of 40,000 euros"))
    answer = await Asking(searcher, log, scripted_model(Purging(line))).ask(tenant, ADA, "Who approved the budget?")
    assert (answer.outcome, answer.dropped, answer.text) == ("refused", 1, "")


async def test_a_question_whose_asker_hangs_up_is_recorded(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    await put_minutes(database, tenant)
    asked = asking(searcher, log)
    steps = asked.stream(tenant, ADA, "When did the board approve the budget?")
    name, _ = await anext(steps)
    await steps.aclose()  # type: ignore[attr-defined]
    await asked.close()
    async with database.transaction(tenant) as tx:
        found = await (await tx.execute("SELECT FROM mnemon.events WHERE type = %s", (ASKED.type,))).fetchall()
    assert (name, len(found)) == ("evidence", 1)


async def test_where_the_filters_leave_nothing_the_refusal_says_so(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    await put_minutes(database, tenant)
    answer = await asking(searcher, log).ask(tenant, ADA, "Who approved the budget?", PassageFilters(tag="absent"))
    assert answer.refusal is not None
    assert answer.refusal.message.startswith("Nothing passes the filters: ")


async def test_a_near_miss_shows_more_than_a_number(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog
) -> None:
    passages = ["## 1. Where we stand\n\nThe account covers fourteen months. Three harbours answered."]
    await put(database, tenant, passages, await TopicEmbedder().embed(passages))
    answer = await asking(searcher, log).ask(tenant, ADA, "Who won the football match of the ferret?")
    assert answer.refusal is not None
    assert "fourteen months" in answer.refusal.near_misses[0].snippet


@pytest.mark.parametrize(
    ("source", "sentence", "quote", "kept"),
    [
        ("The board did not approve the big plan.", "The board approved the big plan.", "approve the big plan", False),
        ("The board approved the big plan.", "The board never approved the big plan.", "approved the big plan", False),
        ("The board did not approve the big plan.", "The board did not approve the plan.", "not approve the big", True),
        ("The board did not approve the big plan.", "The big plan was not approved.", "approve the big plan", True),
        ("Nobody objected. The board approved the big plan.", "The board approved the plan.", "approved the big", True),
        ("The board approved the big plan, not the small.", "The big plan is approved.", "approved the big", True),
    ],
)  # fmt: skip
async def test_a_no_that_is_on_one_side_only_drops_the_sentence(
    database: Database, tenant: UUID, searcher: Searcher, log: EventLog,
    source: str, sentence: str, quote: str, kept: bool,
) -> None:  # fmt: skip
    await put(database, tenant, [source], await TopicEmbedder().embed([source]))
    answer = await asking(searcher, log, written((sentence, quote))).ask(tenant, ADA, "Is the big plan approved?")
    assert (len(answer.sentences), answer.dropped) == ((1, 0) if kept else (0, 1))
