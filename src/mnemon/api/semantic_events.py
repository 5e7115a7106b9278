"""Semantic events over REST: search, one event, repetition, and the views made of them."""

from fastapi import APIRouter, Response

from mnemon.api.bind import route
from mnemon.semantics import operations
from mnemon.semantics.outputs import EventsExported

router = APIRouter(tags=["semantic events"])
COMPLETE = "X-Mnemon-Complete"
EXPORTED = {
    "content": {"text/markdown": {}, "text/csv": {}},
    "headers": {COMPLETE: {"description": "`false` where there are more.", "schema": {"type": "boolean"}}},
}


def _as_file(exported: EventsExported) -> Response:
    told = {COMPLETE: "true" if exported.complete else "false"}
    return Response(exported.text, media_type=f"text/{exported.format}; charset=utf-8", headers=told)


route(router, "GET", "/semantic-events", operations.search)
route(router, "GET", "/semantic-events/commitments", operations.commitments)
route(router, "GET", "/semantic-events/people", operations.people)
route(router, "GET", "/semantic-events/export", operations.export, present=_as_file, answers={200: EXPORTED})
route(router, "GET", "/semantic-events/{event_id}", operations.get)
route(router, "GET", "/artifacts/{artifact_uid}/events", operations.of_revision)
route(router, "GET", "/artifacts/{artifact_uid}/changes", operations.changes)
route(router, "GET", "/artifacts/{artifact_uid}/job", operations.extraction_status)
route(router, "POST", "/artifacts/{artifact_uid}/reextract", operations.reextract, status=202, in_query=True)
