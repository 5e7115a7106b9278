"""Answers a question from the sources, with proof for every sentence, or refuses and says what was searched."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal
from uuid import UUID

from mnemon.ask.citations import Citation, cite, purged_among
from mnemon.ask.extractive import PASSAGES, choose_sentences
from mnemon.ask.filters import EVERYTHING
from mnemon.ask.hits import PassageHit
from mnemon.ask.inputs import PassageFilters
from mnemon.ask.occasions import Occasions, asked_for, occasions_in
from mnemon.ask.query_log import record_question
from mnemon.ask.refusal import MISSES, Refusal, refuse_no_proof, refuse_nothing_found, refuse_weak
from mnemon.ask.search import Ranked, Searcher
from mnemon.ask.strength import NO_MORE, strength_of
from mnemon.ask.written import ProvenSentence, Written, write_answer
from mnemon.documents.access import Reader, read_as
from mnemon.errors import MnemonError
from mnemon.ids import new_uuid
from mnemon.log.events import Actor
from mnemon.log.store import EventLog
from mnemon.models.language import LanguageModel
from mnemon.telemetry import counter, logger

SHOWN = 10

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
    seconds: float

    @property
    def text(self) -> str:
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def citations(self) -> list[Citation]:
        return [citation for sentence in self.sentences for citation in sentence.citations]

    def as_json(self) -> dict[str, Any]:
        whole = asdict(self) | {"text": self.text}
        whole["sentences"] = [sentence_as_json(sentence) for sentence in self.sentences]
        whole["refusal"] = self.refusal.as_json() if self.refusal else None
        return whole


def sentence_as_json(sentence: ProvenSentence) -> dict[str, Any]:
    return {"text": sentence.text, "citations": [one.as_json() for one in sentence.citations]}


class Asking:
    """Answers questions; every one is recorded."""

    def __init__(self, searcher: Searcher, events: EventLog, model: LanguageModel) -> None:
        self._searcher = searcher
        self._events = events
        self._model = model
        self._unfinished: set[asyncio.Task[Answer]] = set()

    async def close(self) -> None:
        """Wait for answers whose askers have hung up: they are recorded too."""
        await asyncio.gather(*self._unfinished, return_exceptions=True)

    async def ask(self, tenant: UUID, actor: Actor, question: str, filters: PassageFilters = EVERYTHING) -> Answer:
        """Search, weigh, answer or refuse, record."""
        began = time.perf_counter()
        ranked, hits = await self._find(tenant, actor, question, filters)
        return await self._conclude(tenant, actor, ranked, hits, began)

    async def stream(
        self, tenant: UUID, actor: Actor, question: str, filters: PassageFilters = EVERYTHING
    ) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """The same in steps: `evidence` at once, then each proven `sentence`, or the `refusal`, and `done`.

        A model's words are shown only after their quotes were found, so they come sentence by sentence.
        """
        began = time.perf_counter()
        ranked, hits = await self._find(tenant, actor, question, filters)
        concluding = asyncio.create_task(self._conclude(tenant, actor, ranked, hits, began))
        self._unfinished.add(concluding)
        concluding.add_done_callback(self._finished)
        yield "evidence", {"passages": [_brief(hit) for hit in hits if ranked.order], "mode": _mode(ranked)}
        answer = await asyncio.shield(concluding)
        for sentence in answer.sentences:
            yield "sentence", sentence_as_json(sentence)
        if answer.refusal:
            yield "refusal", answer.refusal.as_json()
        yield "done", answer.as_json()

    def _finished(self, task: asyncio.Task[Answer]) -> None:
        self._unfinished.discard(task)
        if not task.cancelled() and (failure := task.exception()):
            log.warning("answer_failed", error=type(failure).__name__)

    async def _find(
        self, tenant: UUID, actor: Actor, question: str, filters: PassageFilters
    ) -> tuple[Ranked, Sequence[PassageHit]]:
        return await self._searcher.find(
            tenant, question, filters, wanted=SHOWN, shown=slice(SHOWN), reader=Reader.of(actor), misses=MISSES
        )

    async def _conclude(
        self, tenant: UUID, actor: Actor, ranked: Ranked, hits: Sequence[PassageHit], began: float
    ) -> Answer:
        reader = Reader.of(actor)
        occasions = await self._occasions(tenant, reader, ranked, hits)
        strength = strength_of(ranked, occasions.by_passage(ranked, hits) if occasions else NO_MORE)
        refusal: Refusal | None = None
        written = Written([], 0, "")
        if strength.enough:
            written = await self._answer(tenant, ranked, hits, occasions)
        if not written.sentences:
            seen = await self._as_seen(tenant, reader, ranked)
            if not ranked.order:
                refusal = refuse_nothing_found(seen, hits)
            elif not strength.enough:
                refusal = refuse_weak(seen, strength, hits)
            else:
                refusal = refuse_no_proof(seen, written.dropped, hits)
        answer = Answer(
            query_id=new_uuid(), question=ranked.asked.question, outcome="refused" if refusal else "answered",
            sentences=written.sentences, refusal=refusal, strength=strength.value, mode=_mode(ranked),
            lexical_only=ranked.lexical_only, model=written.model or None, dropped=written.dropped,
            filters=ranked.filters.applied(), seconds=time.perf_counter() - began,
        )  # fmt: skip
        await record_question(self._events, tenant, actor, answer)
        return answer

    async def _occasions(
        self, tenant: UUID, reader: Reader, ranked: Ranked, hits: Sequence[PassageHit]
    ) -> Occasions | None:
        """What the passages tell of the kind of event that is asked for, if one is."""
        if not ranked.order or asked_for(ranked.asked.question) is None:
            return None
        async with self._searcher.database.transaction(tenant) as tx:
            await read_as(tx, reader)
            return await occasions_in(tx, ranked.asked.question, hits[:PASSAGES])

    async def _as_seen(self, tenant: UUID, reader: Reader, ranked: Ranked) -> Ranked:
        """With no more counted than the reader may see."""
        async with self._searcher.database.transaction(tenant) as tx:
            await read_as(tx, reader)
            return replace(ranked, scope=await ranked.scope.seen(tx))

    async def _answer(
        self, tenant: UUID, ranked: Ranked, hits: Sequence[PassageHit], occasions: Occasions | None
    ) -> Written:
        """In the model's words where there is a model that answers, else in the sources' own."""
        if self._model.available:
            try:
                written = await write_answer(self._model, tenant, ranked.asked.question, hits[:PASSAGES])
                return await self._without_purged(tenant, written)
            except MnemonError as failure:
                UNAVAILABLE.inc()
                log.warning("answer_without_model", error_code=failure.code)
        chosen = await choose_sentences(ranked, hits, self._searcher.embedder_in_use(ranked.asked), occasions)
        proven = [ProvenSentence(one.text, [cite(one.hit, one.start, one.end)]) for one in chosen]
        return Written(proven, 0, "")

    async def _without_purged(self, tenant: UUID, written: Written) -> Written:
        """A model takes its time: what was purged meanwhile is not shown any more."""
        cited = {citation.doc_version_id for sentence in written.sentences for citation in sentence.citations}
        async with self._searcher.database.transaction(tenant) as tx:
            gone = await purged_among(tx, cited)
        kept = [one for one in written.sentences if gone.isdisjoint(proof.doc_version_id for proof in one.citations)]
        return replace(written, sentences=kept, dropped=written.dropped + len(written.sentences) - len(kept))


def _mode(ranked: Ranked) -> str:
    return "lexical" if ranked.lexical_only else "hybrid"


def _brief(hit: PassageHit) -> dict[str, Any]:
    names = ("doc_id", "doc_version_id", "title", "start", "end", "first_page", "speaker", "score", "snippet")
    whole = hit.as_json()
    return {name: whole[name] for name in names}
