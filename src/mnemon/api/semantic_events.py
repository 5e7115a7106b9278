"""Semantic events over REST: search, one event, repetition, and the views made of them."""

from fastapi import APIRouter, Response

from mnemon.api.bind import route
from mnemon.semantics import operations
from mnemon.semantics.corrections import operations as corrections
from mnemon.semantics.corrections.outputs import LabelsExported
from mnemon.semantics.outputs import EventsExported

router = APIRouter(tags=["semantic events"])
COMPLETE = "X-Mnemon-Complete"
EXPORTED = {
    "content": {"text/markdown": {}, "text/csv": {}},
    "headers": {COMPLETE: {"description": "`false` where there are more.", "schema": {"type": "boolean"}}},
}


LINES = {
    "content": {"application/x-ndjson": {}},
    "headers": {COMPLETE: {"description": "`false` where there are more.", "schema": {"type": "boolean"}}},
}


def _as_lines(exported: LabelsExported) -> Response:
    told = {COMPLETE: "true" if exported.complete else "false"}
    return Response(exported.text, media_type="application/x-ndjson", headers=told)


def _as_file(exported: EventsExported) -> Response:
    told = {COMPLETE: "true" if exported.complete else "false"}
    return Response(exported.text, media_type=f"text/{exported.format}; charset=utf-8", headers=told)


route(router, "GET", "/semantic-events", operations.search)
route(router, "GET", "/semantic-events/commitments", operations.commitments)
route(router, "GET", "/semantic-events/people", operations.people)
route(router, "GET", "/semantic-events/density", operations.density)
route(router, "GET", "/semantic-events/export", operations.export, present=_as_file, answers={200: EXPORTED})
route(router, "GET", "/semantic-events/corrections", corrections.corrected)
route(
    router, "GET", "/semantic-events/corrections/export", corrections.export_corrected, present=_as_lines,
    answers={200: LINES},
)  # fmt: skip
route(router, "GET", "/semantic-events/{event_id}", operations.get)
route(router, "GET", "/artifacts/{artifact_uid}/events", operations.of_revision)
route(router, "GET", "/artifacts/{artifact_uid}/changes", operations.changes)
route(router, "GET", "/artifacts/{artifact_uid}/job", operations.extraction_status)
route(router, "POST", "/artifacts/{artifact_uid}/reextract", operations.reextract, status=202, in_query=True)
route(router, "POST", "/semantic-events/{event_id}/mark", corrections.mark)
route(router, "PATCH", "/semantic-events/{event_id}", corrections.edit)
route(router, "POST", "/semantic-events/{event_id}/merge", corrections.merge)
route(router, "POST", "/semantic-events/{event_id}/split", corrections.split)
route(router, "POST", "/semantic-events/{event_id}/link", corrections.link)
route(router, "POST", "/semantic-events/{event_id}/unlink", corrections.unlink)
route(router, "POST", "/semantic-events/{event_id}/undo", corrections.undo)
