"""Claims about learning from corrections: measured on what it has not seen, recorded, and given up again."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.errors import Conflict
from mnemon.operations import Caller
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact
from mnemon.semantics.corrections import learn as learning
from mnemon.semantics.corrections import operations as corrections
from mnemon.semantics.corrections.inputs import EventVerdict, LearningAsked
from mnemon.semantics.corrections.learning import LabelledProposal, refit
from mnemon.semantics.learned.reader import LearnedReader
from mnemon.semantics.lens import SEMANTICS
from tests.documents.conftest import rows
from tests.semantics.conftest import ADA

Done = Callable[[], Awaitable[None]]
NAMES = ["Ada Byron", "Ben Okafor", "Cleo Marsh", "Dan Weiss", "Eva Lind", "Femi Ade", "Gus Hall", "Hana Ito"]
THINGS = ["budget", "contract", "timetable", "report"]


def labelled(right: Callable[[int], bool], count: int = 60) -> list[LabelledProposal]:
    """The second feature tells right from wrong; the shipped weights do not look at it."""
    return [
        LabelledProposal(f"doc-{place % 12}", place, (1.0, 1.0 if right(place) else -1.0), right(place))
        for place in range(count)
    ]


def test_weights_that_do_better_on_what_they_have_not_seen_are_better() -> None:
    found = refit(labelled(lambda place: place % 3 == 0), [0.0, 0.0])
    assert found.is_better
    assert found.after.accuracy == 1.0
    assert found.after.log_loss < found.before.log_loss
    assert found.weights[1] > 1


def test_weights_that_only_remember_are_not() -> None:
    # Whether it is right has nothing to do with what speaks for it.
    chance = [
        LabelledProposal(f"doc-{place % 12}", place, (1.0, float((place * 7) % 5) - 2), (place * 11) % 7 < 3)
        for place in range(40)
    ]
    found = refit(chance, [-0.3, 0.0])
    assert not found.is_better


def test_the_same_corrections_give_the_same_weights_in_any_order() -> None:
    some = labelled(lambda place: place % 3 == 0)
    assert refit(some, [0.0, 0.0]) == refit(some[::-1], [0.0, 0.0])


async def test_a_tenant_teaches_the_reader_and_can_take_it_back(
    mnemon: Mnemon, tenant: UUID, all_done: Done, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "shared_reader", lambda *_: LearnedReader(open_folder / "models-home"))
    promises = [f"{name} will send the {thing} by 9 March 2026." for name in NAMES for thing in THINGS[:2]]
    decisions = [f"We decided to close depot {place} in Bremen." for place in range(1, 13)]
    new = NewArtifact(
        artifact_type="note", source_system="test", content="\n\n".join([*promises, *decisions]),
        ts=datetime(2026, 3, 2, 9, tzinfo=UTC), visibility_scope="org",
    )  # fmt: skip
    await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
    await all_done()
    caller = Caller(tenant, ADA)
    with pytest.raises(Conflict, match="too few"):
        await corrections.learn(mnemon, caller, LearningAsked())

    events = await rows(mnemon, tenant, "SELECT event_id, category FROM mnemon.semantic_events ORDER BY position")
    for event in events:
        verdict = "dismiss" if event["category"] == "Decision" else "confirm"
        await corrections.mark(mnemon, caller, EventVerdict(event_id=event["event_id"], verdict=verdict))
    learned = await corrections.learn(mnemon, caller, LearningAsked())
    assert learned.uses == "own"
    assert learned.own is not None
    assert learned.shipped is not None
    assert learned.own.log_loss < learned.shipped.log_loss
    weights = await learning.own_weights(mnemon.database, tenant)
    assert weights is not None
    assert weights["is_Decision"] < weights["is_Commitment"]

    hashed = await mnemon.projector.state_hash(tenant, SEMANTICS.name)
    assert (await mnemon.projector.rebuild(tenant, SEMANTICS.name)).state_hash == hashed
    assert await learning.own_weights(mnemon.database, tenant) == weights

    assert (await corrections.learn(mnemon, caller, LearningAsked(forget=True))).uses == "shipped"
    assert await learning.own_weights(mnemon.database, tenant) is None
