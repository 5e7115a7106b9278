"""Artifacts over REST: take in, open, history, events, extraction, deletion."""

from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from mnemon.api.access import MnemonPart, address_of, allow
from mnemon.api.bind import refuse_unknown, route
from mnemon.documents.intake.text import LONGEST_TEXT
from mnemon.errors import InvalidRequest, RequestTooLarge
from mnemon.identity.roles import Principal
from mnemon.operations import Bound, Caller, Differs, model_of, offered
from mnemon.semantics import artifact_operations as operations
from mnemon.semantics.artifact_operations import ArtifactTaken, ArtifactToAdd

router = APIRouter(tags=["artifacts"])
PATHS = frozenset({"/v1/artifacts", "/api/artifacts"})
# At most four in UTF-8; six where a client writes all but ASCII as \u….
BYTES_OF_A_CHARACTER = 6
AT_ONCE = {"wait_seconds": Differs("A request is answered at once; the state of the extraction has a route.")}
Sent = model_of("NewArtifact", offered(operations.add, AT_ONCE), operations.add.example)
BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": Sent.model_json_schema()}}}}


# By hand, as the body is longer than others may be, and is read once the caller is known.
@router.post("/artifacts", summary=operations.add.summary.rstrip("."), status_code=202, openapi_extra=BODY)
async def post_artifact(
    request: Request, mnemon: MnemonPart, principal: Annotated[Principal, allow(operations.add.action)]
) -> ArtifactTaken:
    refuse_unknown(request)
    most = LONGEST_TEXT * BYTES_OF_A_CHARACTER + mnemon.settings.request_max_bytes
    given = await read_long_body(request, Sent, most)
    asked = ArtifactToAdd.model_validate(given.model_dump(exclude_unset=True))
    return await operations.add(mnemon, Caller.of(principal, address_of(request)), asked)


post_artifact.bound = Bound(operations.add, AT_ONCE)  # type: ignore[attr-defined]
route(router, "GET", "/artifacts/{artifact_uid}", operations.get)
route(router, "GET", "/artifacts/{artifact_uid}/revisions", operations.history)
route(router, "DELETE", "/artifacts/{artifact_uid}", operations.delete)


async def read_long_body(request: Request, model: type[BaseModel], most: int) -> BaseModel:
    """The body as this model; refused with the field that does not fit, or when more than `most` bytes have come."""
    sent_as = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if sent_as != "application/json":
        # A form of a foreign page cannot send this type.
        raise InvalidRequest(f"The body is {sent_as or 'of no named type'}: send application/json.")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise RequestTooLarge(f"The request body is over {most} bytes: upload it as a file.", most_bytes=most)
    try:
        return model.model_validate_json(bytes(body))
    except ValidationError as failure:
        raise RequestValidationError(failure.errors(include_url=False, include_input=False)) from None
