"""What a user may do with events of the log: append, read one, read streams, follow causes and processes."""

from collections.abc import Sequence

from mnemon.errors import InvalidRequest
from mnemon.identity.recording import record_events
from mnemon.identity.roles import Action
from mnemon.log.append.incoming import DECISION, IncomingEvent, with_key
from mnemon.log.errors import (
    BadCursor,
    BatchRefused,
    EventNotFound,
    InvalidEvent,
    KeyConflict,
    PeriodClosed,
    SubjectErased,
    TypeDeprecated,
    TypeNotRegistered,
    TypeReserved,
    VersionConflict,
)
from mnemon.log.events import Appended
from mnemon.log_operations import event_outputs as outputs
from mnemon.log_operations.event_inputs import CausesAsked, EventsSent, LogEventAsked, ProcessAsked, StreamAsked
from mnemon.log_operations.fields import EVENT_ID, NO_TOOLS, Parts
from mnemon.log_operations.shown import shown_events
from mnemon.operations import Caller, operation

NOT_RECORDED = (
    TypeNotRegistered, TypeDeprecated, TypeReserved, InvalidEvent, BatchRefused, VersionConflict, KeyConflict,
    PeriodClosed, SubjectErased,
)  # fmt: skip


@operation("events.append", Action.APPEND_EVENTS, errors=NOT_RECORDED, example={"events": [DECISION]}, absent=NO_TOOLS)
async def append(mnemon: Parts, caller: Caller, asked: EventsSent) -> outputs.AppendedEvents:
    """Append events, all or none."""
    if caller.principal is None:
        appended: Sequence[Appended] = await _by_operator(mnemon, caller, asked.events, asked.idempotency_key)
    else:
        appended = await record_events(
            mnemon.log, caller.principal, asked.events,
            idempotency_key=asked.idempotency_key, address=caller.address, channel=caller.channel,
        )  # fmt: skip
    return outputs.AppendedEvents(events=[outputs.AppendedOut(**one.as_json()) for one in appended])


async def _by_operator(
    mnemon: Parts, caller: Caller, events: Sequence[IncomingEvent], key: str | None
) -> Sequence[Appended]:
    if any(one.actor is not None or one.scope.tenant_id is not None for one in events):
        raise InvalidRequest("Leave out actor and tenant_id: this command acts as the operator, in --tenant.")
    if any(one.approval_id is not None for one in events):
        raise InvalidRequest("Leave out approval_id: an approval is for the administrator who asked for it, over REST.")
    mnemon.log.registry.refuse_built_in(one.type for one in events)
    made = [one.as_new_event(caller.actor, channel=caller.channel) for one in events]
    return await mnemon.log.append(caller.tenant_id, with_key(made, key) if key else made)


@operation(
    "events.read", Action.READ_LOG, read_only=True, errors=(BadCursor,), absent=NO_TOOLS,
    example={"stream_type": "entity", "entity_type": "decision", "stream_id": "D-17"},
)  # fmt: skip
async def read(mnemon: Parts, caller: Caller, asked: StreamAsked) -> outputs.EventsRead:
    """Read a stream, page by page."""
    page = await mnemon.log.read_page(
        caller.tenant_id, asked.stream, asked.filter,
        legal_entity=asked.partition, direction=asked.direction, cursor=asked.cursor, limit=asked.limit,
        tolerant=True,
    )  # fmt: skip
    shown = await shown_events(mnemon, caller, page.events)
    return outputs.EventsRead.model_construct(events=shown, has_more=page.has_more, next_cursor=page.next_cursor)


@operation(
    "events.get", Action.READ_LOG, read_only=True, errors=(EventNotFound,), example={"event_id": EVENT_ID},
    absent=NO_TOOLS,
)  # fmt: skip
async def get(mnemon: Parts, caller: Caller, asked: LogEventAsked) -> outputs.OneEvent:
    """One event."""
    event = await mnemon.log.read_event(caller.tenant_id, asked.event_id, asked.legal_entity)
    [shown] = await shown_events(mnemon, caller, [event])
    return outputs.OneEvent.model_construct(event=shown)


@operation(
    "events.lineage", Action.READ_LOG, read_only=True, errors=(EventNotFound,), example={"event_id": EVENT_ID},
    absent=NO_TOOLS,
)  # fmt: skip
async def lineage(mnemon: Parts, caller: Caller, asked: CausesAsked) -> outputs.LineageOut:
    """What led to an event."""
    found = await mnemon.log.read_lineage(caller.tenant_id, asked.event_id, asked.depth)
    shown = await shown_events(mnemon, caller, found)
    first = found[0].envelope.get("caused_by")
    complete = first is None or first in {one.id for one in found}
    return outputs.LineageOut.model_construct(lineage=shown, depth=len(shown) - 1, complete=complete)


@operation(
    "events.descendants", Action.READ_LOG, read_only=True, errors=(EventNotFound,), example={"event_id": EVENT_ID},
    absent=NO_TOOLS,
)  # fmt: skip
async def descendants(mnemon: Parts, caller: Caller, asked: CausesAsked) -> outputs.DescendantsOut:
    """What followed from an event."""
    await mnemon.log.read_event(caller.tenant_id, asked.event_id)
    found = await mnemon.log.read_descendants(caller.tenant_id, asked.event_id, asked.depth)
    shown = await shown_events(mnemon, caller, found)
    deeper = await mnemon.log.read_descendants(caller.tenant_id, asked.event_id, asked.depth + 1)
    complete = len(deeper) == len(found)
    return outputs.DescendantsOut.model_construct(descendants=shown, count=len(shown), complete=complete)


@operation(
    "events.process", Action.READ_LOG, read_only=True, example={"correlation_id": "hosting-2026"}, absent=NO_TOOLS
)
async def process(mnemon: Parts, caller: Caller, asked: ProcessAsked) -> outputs.TraceOut:
    """All events of a business process, how long it took and who took part."""
    trace = await mnemon.log.read_trace(caller.tenant_id, asked.correlation_id)
    shown = await shown_events(mnemon, caller, trace.events)
    return outputs.TraceOut.model_construct(**trace.as_json() | {"events": shown})
