"""The learned engine: rules and learned reader together; each finding has the confidence that both give it."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mnemon.semantics.extract.extractor import ChunkExtraction, MergedEvents
from mnemon.semantics.extract.revision import Revision, RevisionChunk
from mnemon.semantics.learned.fields import candidate_of
from mnemon.semantics.learned.objections import speaks_against
from mnemon.semantics.learned.proposals import Proposal, propose
from mnemon.semantics.learned.reader import LearnedReader, confidence_in
from mnemon.semantics.link.merge import merge_candidates
from mnemon.semantics.rules.actors import Cast
from mnemon.semantics.rules.deadlines import names_deadline
from mnemon.semantics.rules.engine import RulesExtractor
from mnemon.semantics.rules.labels import names_category
from mnemon.semantics.rules.mood import plain
from mnemon.semantics.semantic_event import FACT_CONFIDENCE, Candidate, Category

# What is less likely than this is not worth a person's look.
LEAST_KEPT = 0.3
# A rule that is more often right than wrong on labelled text: its word stands.
SURE_RULE = 0.6
# Below this the reader does not only doubt a finding: on held-back documents it was right in four of five.
DISBELIEVED = 0.3


class LearnedExtractor:
    """Rules read each chunk; the learned reader looks at the whole revision, since it judges in context."""

    name = "learned"

    def __init__(
        self, reader: LearnedReader, with_rules: bool = True, weights: Mapping[str, float] | None = None
    ) -> None:
        """Without rules it only shows what they add. `weights` are a tenant's own."""
        self.reader = reader
        self._weights = weights
        self._rules = RulesExtractor() if with_rules else None

    async def extract_chunk(self, revision: Revision, chunk: RevisionChunk) -> ChunkExtraction:
        return await self._rules.extract_chunk(revision, chunk) if self._rules else ChunkExtraction(chunk, ())

    async def merge(self, revision: Revision, extractions: Sequence[ChunkExtraction]) -> MergedEvents:
        by_rules = [found for each in extractions for found in each.candidates]
        proposals = propose(revision, self.reader.judge(revision), by_rules)
        chunks = [each.chunk for each in extractions]
        return MergedEvents(merge_candidates(revision, _candidates(revision, proposals, chunks, self._weights)))


def _candidates(
    revision: Revision, proposals: Sequence[Proposal], chunks: Sequence[RevisionChunk],
    weights: Mapping[str, float] | None = None,
) -> Iterator[Candidate]:  # fmt: skip
    """In the order of the text, so that pronouns find who was named before them."""
    cast, heard = Cast(revision), 0
    units = revision.layout.units
    for proposal in sorted(proposals, key=lambda one: (one.start, one.end, one.category.value)):
        for unit in units[heard : max(heard, proposal.unit)]:
            cast.hear(plain(unit.text))
        heard = max(heard, proposal.unit)
        confidence = confidence_in(proposal, weights)
        if proposal.by_rule is not None:
            found = _with_owner(revision, proposal, cast, proposal.by_rule)
            yield replace(found, confidence=max(confidence, _least_of(proposal.by_rule, found, confidence, revision)))
        elif confidence < LEAST_KEPT or speaks_against(revision, proposal):
            continue
        elif read := candidate_of(revision, proposal, cast, _chunk_id(chunks, proposal.start)):
            named = names_category(revision, read) and confidence >= DISBELIEVED
            yield replace(read, confidence=max(confidence, FACT_CONFIDENCE) if named else confidence)


def _with_owner(revision: Revision, proposal: Proposal, cast: Cast, by_rule: Candidate) -> Candidate:
    """A rule's commitment with the owner and the day that the fields of this reader find, where they find any."""
    if by_rule.category is not Category.COMMITMENT or proposal.unit < 0:
        return by_rule
    placed = replace(proposal, start=by_rule.evidence.start, end=by_rule.evidence.end)
    read = candidate_of(revision, placed, cast, None, by_rule.kind)
    if read is None:
        return by_rule
    owned = any(actor.role == "owner" for actor in read.actors)
    return replace(by_rule, actors=read.actors if owned else by_rule.actors, due=by_rule.due or read.due)


def _least_of(by_rule: Candidate, found: Candidate, confidence: float, revision: Revision) -> float:
    """What a rule found is not lost because the reader doubts it: a sure rule states it, another one suggests it."""
    # In a row the owner's column must say who; in words the fields of this reader may have found it.
    owed = _is_owed_outright(by_rule if by_rule.rule.startswith("row_") else found, revision)
    believed = confidence >= DISBELIEVED or owed or names_category(revision, by_rule)
    return FACT_CONFIDENCE if by_rule.confidence >= SURE_RULE and believed else LEAST_KEPT


def _is_owed_outright(by_rule: Candidate, revision: Revision) -> bool:
    """A person, and a day to come that is called a deadline, in columns or in words, leave nothing to doubt."""
    if by_rule.due is None or not any(actor.role == "owner" for actor in by_rule.actors):
        return False
    to_come = revision.today is None or by_rule.due >= revision.today
    return to_come and (by_rule.rule == "row_commitment" or names_deadline(by_rule.evidence.quote))


def _chunk_id(chunks: Sequence[RevisionChunk], start: int) -> str | None:
    place = bisect_right(chunks, start, key=lambda chunk: chunk.start) - 1
    return chunks[place].chunk_id if place >= 0 else None
