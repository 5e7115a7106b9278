"""Reads a text with the rules, as the tests of this folder need it."""

from datetime import UTC, datetime
from itertools import pairwise

from mnemon.semantics.extract.extractor import extract_revision
from mnemon.semantics.extract.revision import Revision, RevisionChunk, SourceType
from mnemon.semantics.rules.engine import RulesExtractor
from mnemon.semantics.semantic_event import SemanticEvent

WEDNESDAY = datetime(2025, 3, 5, 10, tzinfo=UTC)


def revision(
    text: str, source_type: SourceType = "doc", sender: str | None = None, people: tuple[str, ...] = ()
) -> Revision:
    return Revision("rev_1", text, source_type, WEDNESDAY, "Europe/Berlin", "", sender, people)


async def events(text: str, source_type: SourceType = "doc", **known: object) -> tuple[SemanticEvent, ...]:
    found = await extract_revision(RulesExtractor(), revision(text, source_type, **known))  # type: ignore[arg-type]
    return found.events


async def the_event(text: str, source_type: SourceType = "doc", **known: object) -> SemanticEvent:
    found = await events(text, source_type, **known)
    assert len(found) == 1, [(each.category.value, each.evidence[0].quote) for each in found]
    return found[0]


async def in_chunks(whole: Revision, borders: list[int]) -> tuple[SemanticEvent, ...]:
    edges = [0, *borders, len(whole.text)]
    chunks = [RevisionChunk(start, end, f"chunk_{number}") for number, (start, end) in enumerate(pairwise(edges))]
    return (await extract_revision(RulesExtractor(), whole, chunks)).events
