"""Extraction in two steps, per chunk and then per revision, whichever engine does it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from mnemon.models.language import LanguageModel, Usage
from mnemon.semantics.extract.revision import Revision, RevisionChunk
from mnemon.semantics.extract.verify import holds
from mnemon.semantics.semantic_event import Candidate, SemanticEvent
from mnemon.settings import Settings
from mnemon.telemetry import counter, histogram

EXTRACTED = counter(
    "mnemon_semantic_events_total", "Semantic events kept, by engine and category.", ("engine", "category")
)
UNPROVEN = counter(
    "mnemon_unproven_events_total", "Semantic events dropped because their quote is not in the text.", ("engine",)
)
SECONDS = histogram("mnemon_extraction_seconds", "Time of one step of extraction.", ("engine", "step"))


@dataclass(frozen=True)
class ModelAnswer:
    """What a model said, to be recorded: replay reads it and never asks again."""

    call_id: UUID
    model: str
    said: dict[str, Any]
    usage: Usage
    seconds: float


@dataclass(frozen=True)
class ChunkExtraction:
    """What one chunk gave, and how many findings had no proof in it."""

    chunk: RevisionChunk
    candidates: tuple[Candidate, ...]
    unproven: int = 0
    answers: tuple[ModelAnswer, ...] = ()


@dataclass(frozen=True)
class MergedEvents:
    """The events of a revision, and what a model said of those that are the same."""

    events: list[SemanticEvent]
    answers: tuple[ModelAnswer, ...] = ()


@dataclass(frozen=True)
class ExtractedEvents:
    """What a revision gave. `unproven` counts what was said and could not be proven."""

    events: tuple[SemanticEvent, ...]
    unproven: int = 0
    by_chunk: tuple[ChunkExtraction, ...] = field(default=(), repr=False)
    # What was said in the second step.
    on_merging: tuple[ModelAnswer, ...] = field(default=(), repr=False)

    @property
    def answers(self) -> list[ModelAnswer]:
        """All that a model said, in the order in which it was asked."""
        return [answer for chunk in self.by_chunk for answer in chunk.answers] + list(self.on_merging)


class Extractor(Protocol):
    """An engine. It may suggest; `extract_revision` keeps only what the text proves."""

    @property
    def name(self) -> str: ...
    async def extract_chunk(self, revision: Revision, chunk: RevisionChunk) -> ChunkExtraction: ...
    async def merge(self, revision: Revision, extractions: Sequence[ChunkExtraction]) -> MergedEvents: ...


async def extract_revision(
    engine: Extractor, revision: Revision, chunks: Sequence[RevisionChunk] | None = None
) -> ExtractedEvents:
    """Both steps over all chunks. Every quote is compared with the text once more before it is kept."""
    extractions = []
    for chunk in chunks if chunks is not None else revision.whole():
        with SECONDS.labels(engine.name, "chunk").time():
            extractions.append(await engine.extract_chunk(revision, chunk))
    with SECONDS.labels(engine.name, "revision").time():
        merged = await engine.merge(revision, extractions)
    kept = tuple(
        event
        for event in merged.events
        if event.evidence and all(holds(revision.text, each) for each in event.evidence)
    )
    unproven = sum(each.unproven for each in extractions) + len(merged.events) - len(kept)
    UNPROVEN.labels(engine.name).inc(unproven)
    for event in kept:
        EXTRACTED.labels(engine.name, event.category.value).inc()
    return ExtractedEvents(kept, unproven, tuple(extractions), merged.answers)


def choose_extractor(settings: Settings, model: LanguageModel, tenant: UUID) -> Extractor:
    """The language model is asked only where the settings say so, even if one is configured."""
    # Each engine's patterns and prompts take a while to make, and most commands extract nothing.
    if settings.extraction_engine == "llm":
        from mnemon.semantics.extract.llm import LanguageModelExtractor

        return LanguageModelExtractor(model, tenant)
    from mnemon.semantics.rules.engine import RulesExtractor

    return RulesExtractor()
