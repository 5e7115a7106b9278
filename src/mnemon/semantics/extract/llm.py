"""The llm engine: a language model suggests, the text decides."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from mnemon.documents.structure.sentences import sentences
from mnemon.models.failures import AnswerTruncated
from mnemon.models.language import LanguageModel, ValidatedAnswer
from mnemon.semantics.extract.extractor import ChunkExtraction, MergedEvents, ModelAnswer
from mnemon.semantics.extract.grounding import ground
from mnemon.semantics.extract.prompts import find_events_prompt, same_events_prompt
from mnemon.semantics.extract.revision import Revision, RevisionChunk
from mnemon.semantics.extract.said import SaidEvents, SaidGroups
from mnemon.semantics.link.merge import as_event, group_candidates, merge_candidates
from mnemon.semantics.link.occurrence import may_be_same
from mnemon.semantics.rules.engine import RulesExtractor
from mnemon.semantics.semantic_event import Candidate

# A chunk this small whose answer is still cut off will not fit by cutting it again.
SMALLEST_CHUNK = 400
# More events than this are not compared by a model: the list would not fit, and rules merge what is plain.
MOST_COMPARED = 120


class LanguageModelExtractor:
    """One tenant's. Errors carry the codes of `mnemon.models.failures`; their `retry` says whether to come back."""

    name = "llm"

    def __init__(self, model: LanguageModel, tenant: UUID) -> None:
        self.model = model
        self.tenant = tenant
        self._rules = RulesExtractor()

    async def extract_chunk(self, revision: Revision, chunk: RevisionChunk) -> ChunkExtraction:
        try:
            return await self._ask_about(revision, chunk)
        except AnswerTruncated:
            halves = _halves(revision, chunk)
            if not halves:
                raise
        first, second = [await self.extract_chunk(revision, half) for half in halves]
        return replace(
            first,
            chunk=chunk,
            candidates=first.candidates + second.candidates,
            unproven=first.unproven + second.unproven,
            answers=first.answers + second.answers,
        )

    async def merge(self, revision: Revision, extractions: Sequence[ChunkExtraction]) -> MergedEvents:
        """Plain duplicates by rule; then the model may point out more, and may only join what does not contradict."""
        candidates = [found for each in extractions for found in each.candidates]
        groups = group_candidates(candidates)
        if len({each.evidence.chunk_id for each in candidates}) < 2 or not 2 <= len(groups) <= MOST_COMPARED:
            return MergedEvents(merge_candidates(revision, candidates))
        events = [as_event(revision.revision_id, group) for group in groups]
        answer = await self.model.ask(same_events_prompt(events), SaidGroups, self.tenant)
        joined = _join(groups, [group.numbers for group in answer.value.groups])
        return MergedEvents([as_event(revision.revision_id, group) for group in joined], (_recorded(answer),))

    async def _ask_about(self, revision: Revision, chunk: RevisionChunk) -> ChunkExtraction:
        passage = revision.text[chunk.start : chunk.end]
        if not passage.strip():
            return ChunkExtraction(chunk, ())
        prompt = find_events_prompt(passage, revision.today, revision.author, revision.title)
        answer = await self.model.ask(prompt, SaidEvents, self.tenant)
        by_rule = (await self._rules.extract_chunk(revision, chunk)).candidates
        grounded = [ground(said, revision, chunk, by_rule) for said in answer.value.events]
        proven = tuple(candidate for candidate in grounded if candidate)
        return ChunkExtraction(chunk, proven, len(grounded) - len(proven), (_recorded(answer),))


def _recorded(answer: ValidatedAnswer[Any]) -> ModelAnswer:
    said = answer.value.model_dump(mode="json")
    return ModelAnswer(answer.call_id, answer.model, said, answer.usage, answer.seconds)


def _halves(revision: Revision, chunk: RevisionChunk) -> list[RevisionChunk]:
    """Two chunks that meet between sentences; none where the chunk is too small to cut."""
    if chunk.end - chunk.start < SMALLEST_CHUNK:
        return []
    middle = (chunk.start + chunk.end) // 2
    starts = [start for start, _ in sentences(revision.text, chunk.start, chunk.end)][1:]
    border = min(starts, key=lambda start: abs(start - middle), default=middle)
    return [replace(chunk, end=border), replace(chunk, start=border)]


def _join(groups: list[list[Candidate]], numbers: list[list[int]]) -> list[list[Candidate]]:
    """Groups as the model sees them, numbered from one, joined where every pair may be the same occurrence."""
    joined = [list(group) for group in groups]
    taken: set[int] = set()
    for wanted in numbers:
        places = sorted({number - 1 for number in wanted if 1 <= number <= len(groups)} - taken)
        if not places:
            continue
        home = places[0]
        for place in places[1:]:
            if all(may_be_same(one, other) for one in joined[home] for other in groups[place]):
                joined[home] += groups[place]
                joined[place] = []
                taken.add(place)
        taken.add(home)
    return [group for group in joined if group]
