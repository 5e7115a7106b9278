"""Merging keeps all evidence, joins only what is plainly the same, and does not depend on order."""

from dataclasses import replace
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from mnemon.semantics.merge import merge_candidates
from mnemon.semantics.semantic_event import Actor, Candidate, Category, Evidence, Subject
from tests.semantics.reading import events, revision

TEXT = (
    "We decided to use Postgres for billing. Later: we decided to use Postgres for all billing. We decided to hire Ann."
)


def candidate(quote: str, occurrence: int = 0, **fields: object) -> Candidate:
    start = -1
    for _ in range(occurrence + 1):
        start = TEXT.index(quote, start + 1)
    evidence = Evidence(start, start + len(quote), quote, f"chunk_{start}")
    plain = Candidate(Category.DECISION, quote, Subject("billing"), (), evidence, 0.5)
    return replace(plain, **fields)  # type: ignore[arg-type]


FIRST = candidate("We decided to use Postgres for billing")
SECOND = candidate(
    "we decided to use Postgres for all billing", narrative="They chose Postgres for all billing.", confidence=0.8
)
OTHER = candidate("We decided to hire Ann", subject=Subject("Ann"))


def test_findings_that_say_the_same_become_one_event_with_both_quotes() -> None:
    merged = merge_candidates(revision(TEXT), [FIRST, SECOND, OTHER])
    assert [len(event.evidence) for event in merged] == [2, 1]
    assert merged[0].narrative == FIRST.narrative or merged[0].narrative == SECOND.narrative
    assert merged[0].confidence == 0.8


@given(st.permutations([FIRST, SECOND, OTHER, replace(FIRST, evidence=replace(FIRST.evidence, chunk_id="other"))]))
def test_the_order_of_findings_does_not_matter(shuffled: list[Candidate]) -> None:
    assert merge_candidates(revision(TEXT), shuffled) == merge_candidates(
        revision(TEXT), [FIRST, SECOND, OTHER, shuffled[0]]
    )


def test_the_same_span_from_two_overlapping_chunks_is_one_piece_of_evidence() -> None:
    again = replace(FIRST, evidence=replace(FIRST.evidence, chunk_id="overlap"))
    merged = merge_candidates(revision(TEXT), [FIRST, again])
    assert [len(event.evidence) for event in merged] == [1]


def test_actors_of_all_findings_are_kept_once() -> None:
    one = replace(FIRST, actors=(Actor("Ann", "contributor"),))
    two = replace(SECOND, actors=(Actor("ann", "owner"), Actor("Ben")))
    (merged,) = merge_candidates(revision(TEXT), [one, two])
    assert merged.actors == (Actor("Ann", "owner"), Actor("Ben"))


def test_two_dates_two_owners_two_values_or_a_not_are_two_events() -> None:
    dated = (
        replace(FIRST, category=Category.COMMITMENT, due=date(2025, 1, 1)),
        replace(SECOND, category=Category.COMMITMENT, due=date(2025, 2, 1)),
    )
    owned = replace(FIRST, actors=(Actor("Ann"),)), replace(SECOND, actors=(Actor("Ben"),))
    for pair in (dated, owned, (FIRST, replace(SECOND, category=Category.CHANGE))):
        assert len(merge_candidates(revision(TEXT), pair)) == 2


async def test_opposite_and_differently_counted_statements_stay_apart() -> None:
    assert len(await events("We decided to use Kafka. We decided not to use Kafka.")) == 2
    assert len(await events("We agreed on 3 reviewers. We agreed on 4 reviewers.")) == 2
    assert len(await events("We decided to use Kafka for logs.\n\nAs said: we decided to use Kafka for logs.")) == 1
