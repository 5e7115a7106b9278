"""The archive and the proofs over REST: move payloads, verify, sign, take receipts, export."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from mnemon.api.bind import route
from mnemon.log_operations import archives, integrity, witness
from mnemon.verification import operations as verification

archive = APIRouter(tags=["archive"])
router = APIRouter(tags=["integrity"])
LINES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/x-ndjson": {}}, "description": "Lines of JSON"}
}


def _as_lines(exported: integrity.PartitionExport) -> StreamingResponse:
    return StreamingResponse(exported.lines, media_type="application/x-ndjson")


route(archive, "GET", "/archives", archives.listed)
route(archive, "POST", "/archives", archives.archive, status=202)
route(archive, "POST", "/archives/restorations", archives.restore, status=202)
route(archive, "GET", "/archives/jobs/{job_id}", archives.job)

route(router, "POST", "/integrity/verifications", integrity.verify, status=202)
route(router, "GET", "/integrity/verifications/{job_id}", integrity.verification)
route(router, "POST", "/integrity/checkpoints", integrity.checkpoint, status=201)
route(router, "GET", "/integrity/checkpoints", integrity.checkpoints)
route(router, "GET", "/integrity/consistency", integrity.consistency)
route(router, "GET", "/answers/{query_id}/receipt", integrity.answer_receipt)
route(router, "POST", "/witness/checkpoints", witness.keep, status=201)
route(router, "GET", "/witness/checkpoints/last", witness.last)
route(router, "GET", "/witness/checkpoints", witness.kept)
route(router, "GET", "/integrity/export", integrity.export, present=_as_lines, answers=LINES)
route(router, "GET", "/events/{event_id}/receipt", integrity.receipt)
route(router, "POST", "/verifications", verification.start, status=202)
route(router, "GET", "/verifications/last", verification.last)
