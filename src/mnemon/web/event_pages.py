"""The pages of what was decided and promised: all of it, and what is still open."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Query, Request, Response

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.documents.access import read_as
from mnemon.documents.ingest.extract_job import EXTRACT
from mnemon.documents.library import list_documents
from mnemon.errors import InvalidRequest
from mnemon.identity.roles import Action
from mnemon.log.read.query import end_of, start_of
from mnemon.semantics.search.query import EventFilters, Status, event_search
from mnemon.semantics.search.standing import Standing, standing_of
from mnemon.semantics.search.views import open_commitments
from mnemon.semantics.semantic_event import Category
from mnemon.semantics.shapes import Shape
from mnemon.web.rendering import Visitor, as_page, has_worker, render, templates, visit

router = APIRouter(include_in_schema=False)
ON_A_PAGE = 20
STATES = {"open": "open, or still stands", "superseded": "replaced", "done": "done"}
NOTHING: Shape = {"total": 0, "total_is_exact": True, "next_cursor": None}


@dataclass(frozen=True)
class Asked:
    """What stands in the address, as it was written."""

    q: str = ""
    category: str = ""
    person: str = ""
    status: str = ""
    first: str = ""
    last: str = ""
    as_of: str = ""
    artifact: str = ""

    @property
    def narrowed(self) -> dict[str, str]:
        """By the fields that fold away."""
        values = {"from": self.first, "to": self.last} | {
            name: getattr(self, name) for name in ("category", "person", "status", "as_of")
        }
        return {name: value for name, value in values.items() if value}

    @property
    def values(self) -> dict[str, str]:
        """For the address of the next page."""
        return self.narrowed | {"q": self.q, "artifact": self.artifact}

    @property
    def filters(self) -> EventFilters:
        return EventFilters(
            query=self.q or None,
            category=self.category or None,
            actor=self.person or None,
            status=cast(Status | None, self.status or None),
            time_from=start_of(self.first) if self.first else None,
            time_to=end_of(self.last) if self.last else None,
            as_of=end_of(self.as_of) if self.as_of else None,
            artifact_uid=self.artifact or None,
        )


@dataclass(frozen=True)
class Stored:
    """What a page tells that has no event to show."""

    documents: int
    # Whether a worker is there to read them.
    has_worker: bool


def asked(
    q: str = "", category: str = "", person: str = "", status: str = "",
    first: Annotated[str, Query(alias="from")] = "", last: Annotated[str, Query(alias="to")] = "",
    as_of: str = "", artifact: str = "",
) -> Asked:  # fmt: skip
    given = (q, category, person, status, first, last, as_of, artifact)
    return Asked(*(value.strip() for value in given))


@router.get("/events")
@as_page
async def events_page(
    request: Request, mnemon: MnemonPart, asked: Annotated[Asked, Depends(asked)], cursor: str = ""
) -> Response:
    visitor = await visit(request, Action.QUERY)
    found, problem = NOTHING | {"events": []}, None
    standings: dict[str, Standing] = {}
    try:
        filters = asked.filters
        found = await event_search(
            mnemon.database, visitor.tenant_id, visitor.reader, filters,
            limit=ON_A_PAGE, cursor=cursor or None, embedder=mnemon.embedder,
        )  # fmt: skip
        standings = await standing_of(
            mnemon.database, visitor.tenant_id, visitor.reader, found["events"], as_of=filters.as_of
        )
    except InvalidRequest as refusal:
        problem = refusal
    events = _shown(found["events"], standings)
    return render(
        "events.html", status_code=problem.status if problem else 200, here="events", visitor=visitor, asked=asked,
        cursor=cursor, found=found, events=events, problem=problem,
        stored=None if events else await _stored(mnemon, visitor), categories=list(Category), states=STATES,
    )  # fmt: skip


@router.get("/events/commitments")
@as_page
async def commitments_page(
    request: Request, mnemon: MnemonPart, owner: str = "", overdue: str = "", cursor: str = ""
) -> Response:
    visitor = await visit(request, Action.QUERY)
    found, problem = NOTHING | {"commitments": []}, None
    standings: dict[str, Standing] = {}
    try:
        found = await open_commitments(
            mnemon.database, visitor.tenant_id, visitor.reader,
            owner=owner.strip() or None, overdue=bool(overdue), limit=ON_A_PAGE, cursor=cursor or None,
        )  # fmt: skip
        standings = await standing_of(mnemon.database, visitor.tenant_id, visitor.reader, found["commitments"])
    except InvalidRequest as refusal:
        problem = refusal
    events = _shown(found["commitments"], standings)
    return render(
        "commitments.html", status_code=problem.status if problem else 200, here="events", visitor=visitor,
        owner=owner.strip(), overdue=bool(overdue), cursor=cursor, found=found, events=events, problem=problem,
        stored=None if events else await _stored(mnemon, visitor),
    )  # fmt: skip


def _shown(events: Sequence[Shape], standings: dict[str, Standing]) -> list[tuple[Shape, Standing]]:
    """Without what was purged or read anew in between."""
    return [(event, standings[event["event_id"]]) for event in events if event["event_id"] in standings]


async def _stored(mnemon: Mnemon, visitor: Visitor) -> Stored:
    async with mnemon.database.transaction(visitor.tenant_id) as tx:
        await read_as(tx, visitor.reader)
        documents = (await list_documents(tx, limit=1)).total
    return Stored(documents, await has_worker(mnemon, EXTRACT))


def _lead(event: Shape) -> str | None:
    """What stands before the quote in a narrative that ends with it; none where it says it in other words."""
    said = " ".join(event["evidence"][0]["quote"].split())
    narrative = " ".join(event["narrative"].split())
    return narrative.removesuffix(said) if narrative.endswith(said) else None


templates.filters["lead"] = _lead
