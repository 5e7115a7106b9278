"""Answers a question from the sources, with proof for every sentence, or refuses and says what was searched."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from mnemon.ask.citations import Citation, purged_among
from mnemon.ask.conversing.turns import AskedNow, asked_now
from mnemon.ask.explained import WeighedExplanation, explain
from mnemon.ask.filters import EVERYTHING
from mnemon.ask.frames import Frames, Language, frames_for, frames_of
from mnemon.ask.hits import PassageHit
from mnemon.ask.inputs import PassageFilters, Question, is_as_words
from mnemon.ask.listing.reading import ListedEvents, list_events
from mnemon.ask.listing.wanted import wanted_events
from mnemon.ask.proven import ProvenSentence, told_together
from mnemon.ask.query_log import record_question
from mnemon.ask.quoting.composing import compose
from mnemon.ask.quoting.judgement import shipped
from mnemon.ask.quoting.moved import MAIL
from mnemon.ask.quoting.needs import Need, as_question
from mnemon.ask.quoting.remembering import candidates_of
from mnemon.ask.quoting.surroundings import Stretch, read_stretches
from mnemon.ask.quoting.told import NOTHING_TOLD, ToldEvents, read_told
from mnemon.ask.quoting.weighed import PASSAGES, Weighed, weigh_statements
from mnemon.ask.recall import Recall, Remembered, remember_nothing
from mnemon.ask.refusal import MISSES, Refusal, refuse_no_proof, refuse_nothing_found, refuse_other_time, refuse_weak
from mnemon.ask.search import Ranked, Searcher
from mnemon.ask.translated import (
    as_written,
    asked_in_english,
    asked_in_german_too,
    german_as_english,
    is_same_matter,
    need_of_german,
)
from mnemon.ask.written import Written, write_answer
from mnemon.documents.access import Reader, read_as
from mnemon.errors import MnemonError
from mnemon.ids import new_uuid
from mnemon.log.events import Actor
from mnemon.log.store import EventLog
from mnemon.models.language import LanguageModel
from mnemon.search.questions import checked_question
from mnemon.telemetry import counter, logger

SHOWN = 10
# Memory objects that are looked at.
RECALLED = 5

UNAVAILABLE = counter("mnemon_answers_without_model_total", "Answers in quotes because the language model failed.")

log = logger(__name__)


@dataclass(frozen=True)
class Answer:
    """Sentences with their proof; or none, and a refusal."""

    query_id: UUID
    question: str
    outcome: Literal["answered", "refused"]
    sentences: Sequence[ProvenSentence]
    refusal: Refusal | None
    strength: float
    mode: str
    lexical_only: str | None
    # The language model that wrote it; None when it is made of quotes.
    model: str | None
    dropped: int
    filters: dict[str, str]
    # What was read from the question as limits.
    understood: dict[str, str]
    explanation: WeighedExplanation | None
    seconds: float
    conversation_id: str | None = None
    # Of the question, and of what we say around the words of sources.
    language: Language = "en"

    @property
    def frames(self) -> Frames:
        return frames_of(self.language)

    @property
    def text(self) -> str:
        return told_together(self.sentences)

    @property
    def citations(self) -> list[Citation]:
        return [citation for sentence in self.sentences for citation in sentence.citations]

    def as_json(self) -> dict[str, Any]:
        whole = asdict(self) | {"text": self.text}
        whole["sentences"] = [sentence_as_json(sentence) for sentence in self.sentences]
        whole["refusal"] = self.refusal.as_json() if self.refusal else None
        return whole


def sentence_as_json(sentence: ProvenSentence) -> dict[str, Any]:
    return {
        "text": sentence.text,
        "citations": [one.as_json() for one in sentence.citations],
        "remembered": [one.as_json() for one in sentence.remembered],
        "role": sentence.role,
        "note": sentence.note,
    }


@dataclass(frozen=True)
class Findings:
    """What was found for a question, in documents and in memory."""

    ranked: Ranked
    hits: Sequence[PassageHit]
    remembered: Sequence[Remembered]


class Asking:
    """Answers questions; every one is recorded."""

    def __init__(
        self, searcher: Searcher, events: EventLog, model: LanguageModel, recall: Recall = remember_nothing
    ) -> None:
        self._searcher = searcher
        self._events = events
        self._model = model
        self.recall = recall
        self._unfinished: set[asyncio.Task[Answer]] = set()

    async def close(self) -> None:
        """Wait for answers whose askers have hung up: they are recorded too."""
        await asyncio.gather(*self._unfinished, return_exceptions=True)

    async def ask(self, tenant: UUID, actor: Actor, question: str, filters: PassageFilters = EVERYTHING) -> Answer:
        """Search, weigh, answer or refuse, record."""
        began = time.perf_counter()
        asked = await self._in_full(tenant, actor, question, filters)
        if listed := await self._listed(tenant, actor, asked.full, filters):
            return await self._tell_list(tenant, actor, asked, listed, began)
        findings = await self.find(tenant, actor, asked.full, filters)
        return await self._conclude(tenant, actor, asked, findings, began)

    def begin(
        self, tenant: UUID, actor: Actor, question: str, filters: PassageFilters = EVERYTHING
    ) -> "asyncio.Task[Answer]":
        """The same, going on and recorded even if whoever asked hangs up."""
        return self._kept(asyncio.create_task(self.ask(tenant, actor, question, filters)))

    async def stream(
        self, tenant: UUID, actor: Actor, question: str, filters: PassageFilters = EVERYTHING
    ) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """The same in steps: `evidence` at once, then each proven `sentence`, or the `refusal`, and `done`.

        A model's words are shown only after their quotes were found, so they come sentence by sentence.
        """
        began = time.perf_counter()
        asked = await self._in_full(tenant, actor, question, filters)
        if listed := await self._listed(tenant, actor, asked.full, filters):
            concluding = asyncio.create_task(self._tell_list(tenant, actor, asked, listed, began))
            evidence: dict[str, Any] = {"passages": [], "mode": "lexical"}
        else:
            findings = await self.find(tenant, actor, asked.full, filters)
            concluding = asyncio.create_task(self._conclude(tenant, actor, asked, findings, began))
            ranked = findings.ranked
            passages = [_brief(hit) for hit in findings.hits if ranked.order]
            evidence = {"passages": passages, "mode": _mode(ranked)}
        self._kept(concluding)
        yield "evidence", evidence
        answer = await asyncio.shield(concluding)
        for sentence in answer.sentences:
            yield "sentence", sentence_as_json(sentence)
        if answer.refusal:
            yield "refusal", answer.refusal.as_json()
        yield "done", answer.as_json()

    def _kept(self, task: "asyncio.Task[Answer]") -> "asyncio.Task[Answer]":
        self._unfinished.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[Answer]) -> None:
        self._unfinished.discard(task)
        if not task.cancelled() and (failure := task.exception()):
            log.warning("answer_failed", error=type(failure).__name__)

    async def find(
        self, tenant: UUID, actor: Actor, question: str, filters: PassageFilters, misses: int = MISSES
    ) -> Findings:
        """Documents and memory at once. Filters are of documents: with one set, memory is not asked."""
        searching = self._searcher.find(
            tenant, question, filters, wanted=SHOWN, shown=slice(SHOWN), reader=Reader.of(actor), misses=misses
        )
        if filters.applied():
            return Findings(*await searching, ())
        found, remembered = await asyncio.gather(searching, self.recall(tenant, question, RECALLED, Reader.of(actor)))
        return Findings(*found, remembered)

    async def _in_full(self, tenant: UUID, actor: Actor, question: str, filters: PassageFilters) -> AskedNow:
        """A follow-up as one would ask it alone."""
        given = filters.conversation_id if isinstance(filters, Question) else None
        checked = checked_question(question)
        if is_as_words(filters):
            return AskedNow(checked, checked, given)
        now = await asked_now(self._events, self._searcher.database, tenant, actor, checked, given)
        return replace(now, full=as_question(now.full))

    async def _listed(self, tenant: UUID, actor: Actor, question: str, filters: PassageFilters) -> ListedEvents | None:
        """The events that a question lists, where it does. Filters are of documents: with one set, none are listed."""
        if filters.applied() or is_as_words(filters):
            return None
        wanted = wanted_events(question, datetime.now(UTC).date())
        return await list_events(self._searcher.database, tenant, Reader.of(actor), wanted) if wanted else None

    async def _tell_list(
        self, tenant: UUID, actor: Actor, asked: AskedNow, listed: ListedEvents, began: float
    ) -> Answer:  # fmt: skip
        frames = frames_for(asked.full)
        async with self._searcher.database.transaction(tenant) as tx:
            await read_as(tx, Reader.of(actor))
            sentences = await compose(tx, listed.choices, (), frames)
        answer = Answer(
            query_id=new_uuid(), question=asked.question, outcome="answered", sentences=sentences, refusal=None,
            strength=listed.strength, mode="lexical", lexical_only=None, model=None, dropped=0, filters={},
            understood=listed.understood(frames) | asked.understood(), explanation=None,
            seconds=time.perf_counter() - began, conversation_id=asked.conversation_id, language=frames.language,
        )  # fmt: skip
        await record_question(self._events, tenant, actor, answer)
        return answer

    async def _conclude(
        self, tenant: UUID, actor: Actor, asked: AskedNow, findings: Findings, began: float
    ) -> Answer:  # fmt: skip
        reader, frames = Reader.of(actor), frames_for(asked.full)
        filters = findings.ranked.filters
        weighed = await self.weigh(tenant, reader, findings)
        if weighed.of_other_times:
            findings, weighed = await self._at_that_time(tenant, actor, findings, weighed)
        elif not weighed.enough and not is_as_words(filters):
            findings, weighed = await self._in_other_language(tenant, actor, findings, weighed)
        if weighed.thread:
            weighed = await self._with_later_messages(tenant, actor, findings.ranked, weighed, weighed.thread)
        ranked, hits = findings.ranked, findings.hits
        refusal: Refusal | None = None
        written = Written([], 0, "")
        if weighed.enough:
            written = await self._answer(tenant, reader, findings, weighed, frames)
        if not written.sentences:
            seen = await self._as_seen(tenant, reader, ranked)
            if not ranked.order and not findings.remembered:
                refusal = refuse_nothing_found(seen, hits, frames)
            elif weighed.of_other_times:
                refusal = refuse_other_time(seen, weighed.of_other_times, hits, frames)
            elif not weighed.enough:
                refusal = refuse_weak(seen, weighed.of_somebody_else, hits, frames)
            else:
                refusal = refuse_no_proof(seen, written.dropped, hits, frames)
        answer = Answer(
            query_id=new_uuid(), question=asked.question, outcome="refused" if refusal else "answered",
            sentences=written.sentences, refusal=refusal, strength=weighed.chance, mode=_mode(ranked),
            lexical_only=ranked.lexical_only, model=written.model or None, dropped=written.dropped,
            filters=filters.applied(), understood=weighed.understood(frames) | asked.understood(),
            conversation_id=asked.conversation_id, language=frames.language,
            explanation=explain(weighed) if _wants_explanation(filters) else None, seconds=time.perf_counter() - began,
        )  # fmt: skip
        await record_question(self._events, tenant, actor, answer)
        return answer

    async def _at_that_time(
        self, tenant: UUID, actor: Actor, findings: Findings, weighed: Weighed
    ) -> tuple[Findings, Weighed]:  # fmt: skip
        """Once more among what was written at the time that is asked for, where its words come nearest at others."""
        period, filters = weighed.of_other_times, findings.ranked.filters
        if period is None or filters.from_date or filters.to_date:
            return findings, weighed
        first, last = period.moments()
        then = filters.model_copy(update={"from_date": first, "to_date": last})
        found = await self.find(tenant, actor, findings.ranked.asked.question, then)
        again = await self.weigh(tenant, Reader.of(actor), found)
        return (found, again) if again.enough else (findings, weighed)

    async def _with_later_messages(
        self, tenant: UUID, actor: Actor, ranked: Ranked, weighed: Weighed, subject: str
    ) -> Weighed:
        """A later message of the thread says its new price or day in few of the question's words: it is looked for by
        the subject."""
        later = {"from_date": weighed.found[0].origin.written_at, "media_type": MAIL}
        found = await self.find(
            tenant, actor, f"{subject} {ranked.asked.question}", ranked.filters.model_copy(update=later)
        )
        stretches, _ = await self._around(tenant, Reader.of(actor), found.hits)
        return weighed.with_later(stretches)

    async def _in_other_language(
        self, tenant: UUID, actor: Actor, findings: Findings, weighed: Weighed
    ) -> tuple[Findings, Weighed]:  # fmt: skip
        """Once more in the other language that is read, where nothing answers in the question's own: a German question
        in English words, another one of what is written in German."""
        question, filters = findings.ranked.asked.question, findings.ranked.filters
        if weighed.need.german:
            translated = asked_in_english(question)
            found = await self.find(tenant, actor, translated, filters)
            again = await self.weigh(tenant, Reader.of(actor), found, need_of_german(question, translated))
        else:
            found = await self.find(tenant, actor, asked_in_german_too(question), filters, misses=PASSAGES)
            again = await self._weigh_german(tenant, Reader.of(actor), found, question)
        return (found, again) if is_same_matter(again) else (findings, weighed)

    async def _weigh_german(self, tenant: UUID, reader: Reader, found: Findings, question: str) -> Weighed:
        """An English question beside the German of what was found, as English."""
        ranked = replace(found.ranked, asked=replace(found.ranked.asked, question=question))
        stretches, told = await self._around(tenant, reader, found.hits)
        weighed = await self._weighed(ranked, german_as_english(stretches), told)
        return as_written(weighed, stretches)

    async def weigh(self, tenant: UUID, reader: Reader, findings: Findings, need: Need | None = None) -> Weighed:
        """Every statement in and around what was found."""
        ranked = findings.ranked
        stretches, told = await self._around(tenant, reader, findings.hits if ranked.order else ())
        return await self._weighed(ranked, [*stretches, *candidates_of(findings.remembered)], told, need)

    async def _around(
        self, tenant: UUID, reader: Reader, hits: Sequence[PassageHit]
    ) -> tuple[list[Stretch], ToldEvents]:
        if not hits:
            return [], NOTHING_TOLD
        async with self._searcher.database.transaction(tenant) as tx:
            await read_as(tx, reader)
            stretches = await read_stretches(tx, hits[:PASSAGES])
            return stretches, await read_told(tx, stretches)

    async def _weighed(
        self, ranked: Ranked, stretches: Sequence[Stretch], told: ToldEvents, need: Need | None = None
    ) -> Weighed:
        embedder = self._searcher.embedder_in_use(ranked.asked)
        return await weigh_statements(
            ranked, stretches, told, shipped(), embedder, self._searcher.statement_reader, need
        )

    async def _as_seen(self, tenant: UUID, reader: Reader, ranked: Ranked) -> Ranked:
        """With no more counted than the reader may see."""
        async with self._searcher.database.transaction(tenant) as tx:
            await read_as(tx, reader)
            return replace(ranked, scope=await ranked.scope.seen(tx))

    async def _answer(
        self, tenant: UUID, reader: Reader, findings: Findings, weighed: Weighed, frames: Frames
    ) -> Written:
        """In the model's words where there is a model that answers, else in the sources' own."""
        if self._model.available and findings.ranked.order:
            try:
                question = findings.ranked.asked.question
                written = await write_answer(self._model, tenant, question, findings.hits[:PASSAGES])
                return await self._without_purged(tenant, written)
            except MnemonError as failure:
                UNAVAILABLE.inc()
                log.warning("answer_without_model", error_code=failure.code)
        async with self._searcher.database.transaction(tenant) as tx:
            await read_as(tx, reader)
            return Written(await compose(tx, weighed.choices(), findings.hits, frames), 0, "")

    async def _without_purged(self, tenant: UUID, written: Written) -> Written:
        """A model takes its time: what was purged meanwhile is not shown any more."""
        cited = {citation.doc_version_id for sentence in written.sentences for citation in sentence.citations}
        async with self._searcher.database.transaction(tenant) as tx:
            gone = await purged_among(tx, cited)
        kept = [one for one in written.sentences if gone.isdisjoint(proof.doc_version_id for proof in one.citations)]
        return replace(written, sentences=kept, dropped=written.dropped + len(written.sentences) - len(kept))


def _wants_explanation(filters: PassageFilters) -> bool:
    """Of a question that came through a door."""
    return isinstance(filters, Question) and filters.explain


def _mode(ranked: Ranked) -> str:
    return "lexical" if ranked.lexical_only else "hybrid"


def _brief(hit: PassageHit) -> dict[str, Any]:
    names = ("doc_id", "doc_version_id", "title", "start", "end", "first_page", "speaker", "score", "snippet")
    whole = hit.as_json()
    return {name: whole[name] for name in names}
