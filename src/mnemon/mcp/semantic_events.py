"""Semantic events as tools show them: with the addresses of themselves and of the words that prove them."""

from collections.abc import Iterable, Sequence
from typing import Any

from mcp_types import ResourceLink
from pydantic import Field

from mnemon.mcp import briefly
from mnemon.mcp.links import Linked, artifact_uri, event_uri, link
from mnemon.operations import as_json
from mnemon.semantics import outputs


class EvidenceShown(outputs.EvidenceOut):
    uri: str = Field(description="Opens exactly these words.")


class WholeEvidence(outputs.WholeEvidenceOut):
    uri: str = Field(description="Opens exactly these words.")


class EventShown(outputs.EventOut):
    evidence: Sequence[EvidenceShown] = Field((), description="Only where it was asked for.")
    uri: str


class WholeEventShown(Linked, outputs.WholeEvent):
    evidence: Sequence[WholeEvidence]
    uri: str

    def places(self) -> Sequence[ResourceLink]:
        return _places([self])


class EventsShown(Linked, outputs.EventsFound):
    events: Sequence[EventShown]

    def places(self) -> Sequence[ResourceLink]:
        return _places(self.events)

    def brief(self) -> str:
        return briefly.events(self.events, self.next_cursor)


class RevisionEventsShown(Linked, outputs.EventsOfRevision):
    events: Sequence[EventShown]

    def places(self) -> Sequence[ResourceLink]:
        return _places(self.events)


def found(answer: outputs.EventsFound) -> EventsShown:
    return EventsShown.model_validate(_addressed(as_json(answer)))


def of_revision(answer: outputs.EventsOfRevision) -> RevisionEventsShown:
    return RevisionEventsShown.model_validate(_addressed(as_json(answer)))


def whole(answer: outputs.WholeEvent) -> WholeEventShown:
    return WholeEventShown.model_validate(_with_addresses(as_json(answer)))


def _addressed(page: dict[str, Any]) -> dict[str, Any]:
    return page | {"events": [_with_addresses(one) for one in page["events"]]}


def _with_addresses(event: dict[str, Any]) -> dict[str, Any]:
    uid, revision = event["artifact_uid"], event["revision_id"]
    placed = event | {"uri": event_uri(event["event_id"])}
    if "evidence" in event:
        placed["evidence"] = [
            one | {"uri": artifact_uri(uid, revision, one["start_char"], one["end_char"])} for one in event["evidence"]
        ]
    return placed


def _places(events: Iterable[EventShown | WholeEventShown]) -> list[ResourceLink]:
    """First the quoted words, which is what a reader wants to see."""
    events = list(events)
    quoted = [link(one.uri, event.title or event.artifact_uid, one.quote) for event in events for one in event.evidence]
    return quoted or [link(event.uri, event.narrative[:80], mime_type="application/json") for event in events]
