"""What a person may say about semantic events, declared once for REST, MCP, the command line and the web."""

from typing import Protocol

from mnemon.db.database import Database
from mnemon.documents.access import Reader
from mnemon.errors import Conflict, InvalidRequest, NotFound
from mnemon.identity.roles import Action
from mnemon.operations import Caller, operation
from mnemon.semantics import outputs
from mnemon.semantics.corrections import inputs, judging
from mnemon.semantics.corrections import outputs as labels
from mnemon.semantics.corrections.correct import CorrectingParts, LearningParts, correct
from mnemon.semantics.corrections.labelled import MOST_LABELLED, every_label, labelled
from mnemon.semantics.inputs import Everything
from mnemon.semantics.search.cursor import CursorFields, from_cursor, to_cursor
from mnemon.semantics.search.cursor import moment as a_moment
from mnemon.semantics.shapes import Shape

EVENT = "evt_0123456789abcdef0123456789abcdef"
OTHER = "evt_fedcba9876543210fedcba9876543210"
REFUSALS = (NotFound, Conflict, InvalidRequest)
BY_CORRECTION: CursorFields = {"after_time": a_moment, "after_id": str}
FOR_TRAINING = "It is for whoever trains or checks a reader."


class Parts(Protocol):
    """What the lists need of Mnemon."""

    @property
    def database(self) -> Database: ...


@operation(
    "semantic_events.mark", Action.CORRECT_EVENTS, idempotent=True, errors=REFUSALS,
    example={"event_id": EVENT, "verdict": "done"},
)  # fmt: skip
async def mark(mnemon: CorrectingParts, caller: Caller, asked: inputs.EventVerdict) -> outputs.WholeEvent:
    """Confirm, finish, reopen, dismiss or restore an event.

    It stands above what was read, also when the document is read again. A confirmed suggestion is a fact; what was
    dismissed is shown on request only.
    """
    judge = judging.to_mark(asked)
    return _whole(await correct(mnemon, caller, [asked.event_id], judge, asked.expected_version))


@operation(
    "semantic_events.edit", Action.CORRECT_EVENTS, idempotent=True, errors=REFUSALS,
    example={"event_id": EVENT, "owner": "Ada Byron", "due": "2026-03-09"},
)  # fmt: skip
async def edit(mnemon: CorrectingParts, caller: Caller, asked: inputs.EventEdit) -> outputs.WholeEvent:
    """Say what is right: the category, owner, due date or subject of an event. Its quote stays."""
    judge = judging.to_edit(asked)
    return _whole(await correct(mnemon, caller, [asked.event_id], judge, asked.expected_version))


@operation(
    "semantic_events.merge", Action.CORRECT_EVENTS, idempotent=True, errors=REFUSALS,
    example={"event_id": EVENT, "merged": [OTHER]},
)  # fmt: skip
async def merge(mnemon: CorrectingParts, caller: Caller, asked: inputs.EventMerge) -> outputs.WholeEvent:
    """Say that events of one text are one: it keeps its fields and gets their quotes."""
    ids = [asked.event_id, *dict.fromkeys(asked.merged)]
    return _whole(await correct(mnemon, caller, ids, judging.to_merge(asked), asked.expected_version))


@operation(
    "semantic_events.split", Action.CORRECT_EVENTS, errors=REFUSALS,
    example={"event_id": EVENT, "quotes": ["Ada will send the budget", "Ben will call the landlord"]},
)  # fmt: skip
async def split(mnemon: CorrectingParts, caller: Caller, asked: inputs.EventSplit) -> outputs.WholeEvent:
    """Say that an event is several: each quote becomes an event of its own, to be edited."""
    judge = judging.to_split(asked)
    return _whole(await correct(mnemon, caller, [asked.event_id], judge, asked.expected_version))


@operation(
    "semantic_events.link", Action.CORRECT_EVENTS, idempotent=True, errors=REFUSALS,
    example={"event_id": EVENT, "earlier": OTHER, "kind": "supersedes"},
)  # fmt: skip
async def link(mnemon: CorrectingParts, caller: Caller, asked: inputs.EventTie) -> outputs.WholeEvent:
    """Say that an event supersedes or fulfils an earlier one, or confirm that it does."""
    ids = [asked.event_id, asked.earlier]
    return _whole(await correct(mnemon, caller, ids, judging.to_link(asked), asked.expected_version))


@operation(
    "semantic_events.unlink", Action.CORRECT_EVENTS, idempotent=True, errors=REFUSALS,
    example={"event_id": EVENT, "earlier": OTHER},
)  # fmt: skip
async def unlink(mnemon: CorrectingParts, caller: Caller, asked: inputs.EventPair) -> outputs.WholeEvent:
    """Say that two linked events have nothing to do with each other: the earlier one stands again."""
    ids = [asked.event_id, asked.earlier]
    return _whole(await correct(mnemon, caller, ids, judging.to_unlink(asked), asked.expected_version))


@operation(
    "semantic_events.undo", Action.CORRECT_EVENTS, errors=REFUSALS, example={"event_id": EVENT},
)  # fmt: skip
async def undo(mnemon: CorrectingParts, caller: Caller, asked: inputs.Undoing) -> outputs.WholeEvent:
    """Take back the last correction of an event, or the one that is named. Both stay in the log."""
    judge = judging.to_undo(caller, asked)
    return _whole(await correct(mnemon, caller, [asked.event_id], judge, asked.expected_version))


@operation(
    "semantic_events.corrections", Action.QUERY, read_only=True, errors=(InvalidRequest,), example={"limit": 20},
    absent={"mcp": FOR_TRAINING},
)  # fmt: skip
async def corrected(mnemon: Parts, caller: Caller, asked: inputs.CorrectionsAsked) -> labels.LabelledEvents:
    """Corrected events as labelled data: the words, what was read there, and what a person says it is."""
    place = from_cursor(asked.cursor, BY_CORRECTION)
    after = (place["after_time"], place["after_id"]) if place else None
    reader = Reader.of(caller.actor)
    found = await labelled(mnemon.database, caller.tenant_id, reader, limit=asked.limit + 1, after=after)
    page = found[: asked.limit]
    last = {"after_time": page[-1]["corrected_at"], "after_id": page[-1]["event_id"]} if page else {}
    following = to_cursor(last) if len(found) > asked.limit else None
    return labels.LabelledEvents.model_validate({"items": page, "next_cursor": following})


@operation(
    "semantic_events.export_corrections", Action.QUERY, read_only=True, example={},
    absent={"mcp": FOR_TRAINING},
)  # fmt: skip
async def export_corrected(mnemon: Parts, caller: Caller, asked: Everything) -> labels.LabelsExported:
    """All corrected events as JSON lines, one for each; at most 10,000."""
    told = every_label(mnemon.database, caller.tenant_id, Reader.of(caller.actor))
    lines = [labels.LabelledEvent.model_validate(one).model_dump_json() async for one in told]
    return labels.LabelsExported(
        text="".join(f"{one}\n" for one in lines), events=len(lines), complete=len(lines) < MOST_LABELLED
    )


@operation(
    "semantic_events.learn", Action.CORRECT_EVENTS, errors=(Conflict,), example={},
    absent=dict.fromkeys(
        ("rest", "mcp", "web"), "It reads every corrected text with the reader's model: whoever runs Mnemon does so."
    ),
)  # fmt: skip
async def learn(mnemon: LearningParts, caller: Caller, asked: inputs.LearningAsked) -> labels.ReaderLearned:
    """Fit the learned reader's last, linear layer to what people corrected.

    Each fifth of the corrections is judged by weights that were fitted to the others; only if those do better than the
    weights that Mnemon comes with are they used, for what is read from then on.
    """
    # Loads the reader's modules, which nothing else here needs.
    from mnemon.semantics.corrections import learn as learning

    if asked.forget:
        await learning.forget(mnemon, caller.tenant_id, caller.actor)
        return labels.ReaderLearned(uses="shipped")
    found = await learning.learn(mnemon, caller.tenant_id, caller.actor)
    return labels.ReaderLearned(
        uses="own" if found.is_better else "shipped", labels=found.labels,
        shipped=labels.ReaderFiguresOut(**vars(found.before)), own=labels.ReaderFiguresOut(**vars(found.after)),
    )  # fmt: skip


def _whole(event: Shape) -> outputs.WholeEvent:
    return outputs.WholeEvent.model_validate(event)
