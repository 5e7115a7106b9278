"""What a user may do with semantic events, declared once for REST, MCP, the command line and the web."""

from typing import Protocol

from mnemon.db.database import Database
from mnemon.documents.access import Reader
from mnemon.documents.errors import ArtifactNotFound
from mnemon.errors import Conflict, InvalidRequest, NotFound
from mnemon.identity.roles import Action
from mnemon.models.embedder import Embedder
from mnemon.operations import Caller, operation
from mnemon.semantics import outputs
from mnemon.semantics.audit import verify_evidence
from mnemon.semantics.extract import status
from mnemon.semantics.inputs import (
    ChangesAsked,
    CommitmentsAsked,
    DensityAsked,
    EventAsked,
    EventExport,
    EventSearch,
    EventsOfRevisionAsked,
    Everything,
    PeopleAsked,
    ReextractionAsked,
    RevisionAsked,
)
from mnemon.semantics.search import query, revision_changes, views
from mnemon.semantics.search.collect import collect
from mnemon.semantics.search.cursor import CursorFields, from_cursor, offset, to_cursor
from mnemon.semantics.search.density import event_density
from mnemon.semantics.search.export import as_csv, as_markdown

UID = "uid_0123456789abcdef"
BY_PLACE: CursorFields = {"offset": offset}
FEW_TOOLS = "Every tool costs every agent a part of its attention; event_search finds the same events."
ON_ITS_PAGE = "The document's page shows it beside the text."


class Parts(Protocol):
    """What these operations need of Mnemon."""

    @property
    def database(self) -> Database: ...

    @property
    def embedder(self) -> Embedder: ...


@operation(
    "semantic_events.search", Action.QUERY, read_only=True, may_lag=True, errors=(InvalidRequest,),
    example={"query": "pricing", "category": "Decision", "time_from": "2026-01-01"},
)  # fmt: skip
async def search(mnemon: Parts, caller: Caller, asked: EventSearch) -> outputs.EventsFound:
    """Find decisions, commitments, risks, changes and other events, each with the quote that proves it."""
    found = await query.event_search(
        mnemon.database, caller.tenant_id, Reader.of(caller.actor), asked,
        limit=asked.limit, cursor=asked.cursor, include_evidence=asked.include_evidence, embedder=mnemon.embedder,
    )  # fmt: skip
    return outputs.EventsFound.model_validate(found)


@operation(
    "semantic_events.get", Action.QUERY, read_only=True, errors=(NotFound,),
    example={"event_id": "evt_0123456789abcdef0123456789abcdef"},
)  # fmt: skip
async def get(mnemon: Parts, caller: Caller, asked: EventAsked) -> outputs.WholeEvent:
    """One event with all its evidence, and the events that it superseded or that fulfilled it."""
    found = await query.event_get(mnemon.database, caller.tenant_id, Reader.of(caller.actor), asked.event_id)
    return outputs.WholeEvent.model_validate(found)


@operation(
    "semantic_events.commitments", Action.QUERY, read_only=True, may_lag=True, errors=(InvalidRequest,),
    example={"owner": "Ada Byron", "overdue": True}, absent={"mcp": FEW_TOOLS},
)  # fmt: skip
async def commitments(mnemon: Parts, caller: Caller, asked: CommitmentsAsked) -> outputs.Commitments:
    """What was promised and is still open, the most urgent first."""
    found = await views.open_commitments(
        mnemon.database, caller.tenant_id, Reader.of(caller.actor), owner=asked.owner, due_before=asked.due_before,
        due_from=asked.due_from, due_to=asked.due_to, overdue=asked.overdue, today=asked.today,
        limit=asked.limit, cursor=asked.cursor,
    )  # fmt: skip
    return outputs.Commitments.model_validate(found)


@operation(
    "semantic_events.people", Action.QUERY, read_only=True, may_lag=True, errors=(InvalidRequest,),
    example={"topic": "pricing"}, absent={"mcp": FEW_TOOLS},
)  # fmt: skip
async def people(mnemon: Parts, caller: Caller, asked: PeopleAsked) -> outputs.PeopleOut:
    """Who was involved in what, the busiest first."""
    found = await views.people_topics(
        mnemon.database, caller.tenant_id, Reader.of(caller.actor),
        person=asked.person, topic=asked.topic, limit=asked.limit, cursor=asked.cursor,
    )  # fmt: skip
    return outputs.PeopleOut.model_validate(found)


@operation(
    "semantic_events.density", Action.QUERY, read_only=True, may_lag=True, errors=(InvalidRequest,),
    example={"category": "Decision"},
    absent={"mcp": FEW_TOOLS, "command": "A picture says it: the page of events draws it."},
)  # fmt: skip
async def density(mnemon: Parts, caller: Caller, asked: DensityAsked) -> outputs.EventDensity:
    """How many events of each category there were, by day, week, month, quarter or year."""
    found = await event_density(
        mnemon.database, caller.tenant_id, Reader.of(caller.actor), asked, embedder=mnemon.embedder
    )
    return outputs.EventDensity.model_validate(found)


@operation(
    "semantic_events.export", Action.QUERY, read_only=True, example={"category": "Decision", "format": "csv"},
    absent={"mcp": "An agent reads pages of event_search."},
)  # fmt: skip
async def export(mnemon: Parts, caller: Caller, asked: EventExport) -> outputs.EventsExported:
    """All that a search finds, as Markdown or CSV.

    At most 10,000 events. Where there are more, `complete` is false, and the last line of Markdown says so: `time_from`
    and `time_to` give them in parts.
    """
    found = await collect(mnemon.database, caller.tenant_id, Reader.of(caller.actor), asked)
    csv = asked.format == "csv"
    return outputs.EventsExported(
        text=as_csv(found.events) if csv else as_markdown(found.events, complete=found.complete),
        format=asked.format, events=len(found.events), complete=found.complete,
    )  # fmt: skip


@operation(
    "semantic_events.of_revision", Action.QUERY, read_only=True, errors=(ArtifactNotFound,),
    example={"artifact_uid": UID}, absent={"web": ON_ITS_PAGE},
)  # fmt: skip
async def of_revision(mnemon: Parts, caller: Caller, asked: EventsOfRevisionAsked) -> outputs.EventsOfRevision:
    """Everything that one revision of an artifact says, in the order of its text."""
    first = from_cursor(asked.cursor, BY_PLACE).get("offset", 0)
    found = await query.event_list_for_revision(
        mnemon.database, caller.tenant_id, Reader.of(caller.actor), asked.artifact_uid, asked.revision_id,
        include_evidence=asked.include_evidence, first=first, limit=asked.limit,
    )  # fmt: skip
    following = first + len(found["events"])
    if found["events"] and following < found["total"]:
        found["next_cursor"] = to_cursor({"offset": following})
    return outputs.EventsOfRevision.model_validate(found)


@operation(
    "semantic_events.changes", Action.QUERY, read_only=True, errors=(ArtifactNotFound, Conflict),
    example={"artifact_uid": UID, "before": "1", "after": "2"}, absent={"mcp": FEW_TOOLS},
)  # fmt: skip
async def changes(mnemon: Parts, caller: Caller, asked: ChangesAsked) -> outputs.RevisionChanges:
    """What changed between two revisions: events added, dropped and changed."""
    found = await revision_changes.changes_between(
        mnemon.database, caller.tenant_id, Reader.of(caller.actor), asked.artifact_uid, asked.before, asked.after
    )
    return outputs.RevisionChanges.model_validate(found)


@operation(
    "extractions.status", Action.VIEW_RUNS, read_only=True, errors=(ArtifactNotFound, NotFound),
    example={"artifact_uid": UID}, absent={"web": ON_ITS_PAGE},
)  # fmt: skip
async def extraction_status(mnemon: Parts, caller: Caller, asked: RevisionAsked) -> outputs.ExtractionJob:
    """Whether the events of a revision have been read yet, and if not, why."""
    found = await status.job_status(
        mnemon.database, caller.tenant_id, Reader.of(caller.actor), asked.artifact_uid, asked.revision_id
    )
    return outputs.ExtractionJob.model_validate(found)


@operation(
    "extractions.repeat", Action.UPLOAD_DOCUMENTS, errors=(ArtifactNotFound,),
    example={"artifact_uid": UID, "force": True},
)  # fmt: skip
async def reextract(mnemon: Parts, caller: Caller, asked: ReextractionAsked) -> outputs.Reextraction:
    """Read the events of a revision again. The old ones stay until the new ones replace them."""
    found = await status.event_reextract(
        mnemon.database, caller.tenant_id, Reader.of(caller.actor), asked.artifact_uid, asked.revision_id,
        force=asked.force,
    )  # fmt: skip
    return outputs.Reextraction.model_validate(found)


@operation(
    "semantic_events.verify", Action.QUERY, read_only=True, example={},
    absent=dict.fromkeys(("rest", "mcp", "web"), "It reads every text of a tenant; a worker does so by schedule."),
)  # fmt: skip
async def verify(mnemon: Parts, caller: Caller, asked: Everything) -> outputs.EvidenceChecked:
    """Check every stored quote against its text."""
    audited = await verify_evidence(mnemon.database, caller.tenant_id)
    return outputs.EvidenceChecked.model_validate(audited.as_json())
