"""Merging keeps all evidence, joins only what is plainly the same, and does not depend on order."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemon.semantics.link.merge import group_candidates, merge_candidates
from mnemon.semantics.link.occurrence import Saying, may_be_same
from mnemon.semantics.semantic_event import Candidate, Category, Evidence, InvolvedActor, Subject
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
    one = replace(FIRST, actors=(InvolvedActor("Ann", "contributor"),))
    two = replace(SECOND, actors=(InvolvedActor("ann", "owner"), InvolvedActor("Ben")))
    (merged,) = merge_candidates(revision(TEXT), [one, two])
    assert merged.actors == (InvolvedActor("Ann", "owner"), InvolvedActor("Ben"))


def test_two_dates_two_owners_two_values_or_a_not_are_two_events() -> None:
    dated = (
        replace(FIRST, category=Category.COMMITMENT, due=date(2025, 1, 1)),
        replace(SECOND, category=Category.COMMITMENT, due=date(2025, 2, 1)),
    )
    owned = replace(FIRST, actors=(InvolvedActor("Ann"),)), replace(SECOND, actors=(InvolvedActor("Ben"),))
    for pair in (dated, owned, (FIRST, replace(SECOND, category=Category.CHANGE))):
        assert len(merge_candidates(revision(TEXT), pair)) == 2


async def test_opposite_and_differently_counted_statements_stay_apart() -> None:
    assert len(await events("We decided to use Kafka. We decided not to use Kafka.")) == 2
    assert len(await events("We agreed on 3 reviewers. We agreed on 4 reviewers.")) == 2
    assert len(await events("We decided to use Kafka for logs.\n\nAs said: we decided to use Kafka for logs.")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Option A was chosen for Bremen. Option B was chosen for Bremen.",
        "We agreed to rent hall b2 for the storage of parts. We agreed to rent hall b3 for the storage of parts.",
        "We decided to close the Gdansk depot after the audit of stores. We decided to close the Bremen depot after the"
        " audit of stores.",
        "Lagos was chosen as the site for the new repair shop. Accra was chosen as the site for the new repair shop.",
    ],
)
async def test_what_differs_in_a_name_a_letter_or_an_identifier_stays_two(text: str) -> None:
    assert len(await events(text)) == 2


WORDS = ["budget", "server", "price", "release", "index", "cache", "token", "plan", "report", "12", "15", "not"]


@st.composite
def findings(draw: st.DrawFn) -> list[Candidate]:
    """Quotes from a small stock of words, so that many are alike, one after the other in the text."""
    found, start = [], 0
    for words in draw(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7), max_size=30)):
        quote = " ".join(words)
        found.append(
            Candidate(
                draw(st.sampled_from([Category.DECISION, Category.COMMITMENT])),
                quote,
                Subject(words[0]),
                tuple(InvolvedActor(name) for name in draw(st.sets(st.sampled_from(["Ann", "Ben"]), max_size=1))),
                Evidence(start, start + len(quote), quote),
                0.5,
                due=draw(st.sampled_from([None, None, date(2025, 1, 1), date(2025, 1, 2)])),
            )
        )
        start += len(quote) + 1
    return found


@given(findings())
def test_looking_only_at_near_groups_gives_what_looking_at_all_would(found: list[Candidate]) -> None:
    groups: list[list[Candidate]] = []
    for each in found:
        says = Saying.of(each)
        home = next(
            (
                group
                for group in groups
                if all(may_be_same(each, other) and says.repeats(Saying.of(other)) for other in group)
            ),
            None,
        )
        if home is None:
            groups.append([each])
        else:
            home.append(each)
    assert group_candidates(found) == groups


def test_many_findings_are_compared_with_few(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    plainly = Saying.repeats

    def counted(first: Saying, second: Saying) -> bool:
        nonlocal compared
        compared += 1
        return plainly(first, second)

    monkeypatch.setattr(Saying, "repeats", counted)
    quotes = [f"Ben will send report {number % 1900} to the office by Friday" for number in range(2000)]
    found = [
        Candidate(
            Category.COMMITMENT, quote, Subject("report"), (), Evidence(100 * at, 100 * at + len(quote), quote), 0.5
        )
        for at, quote in enumerate(quotes)
    ]
    assert len(group_candidates(found)) == 1900
    assert compared < 3 * len(found)
