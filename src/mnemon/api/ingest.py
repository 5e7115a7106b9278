"""Uploading over REST: one file or many, each with its own outcome."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

import psycopg
from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, WithJsonSchema

from mnemon.api.access import MnemonPart, address_of, allow
from mnemon.api.bind import refuse_unknown
from mnemon.api.failures import answer_failure, failure_answers
from mnemon.api.uploads import FormReader, Refused, UploadForm
from mnemon.app import Mnemon
from mnemon.documents.errors import UnfitField, UploadTooLarge
from mnemon.documents.intake.files import Received
from mnemon.documents.intake.origin import checked_origin
from mnemon.documents.intake.origin_fields import UploadFields
from mnemon.documents.intake.upload import FileTaken, upload
from mnemon.errors import DatabaseUnavailable, MnemonError
from mnemon.identity.roles import Principal
from mnemon.operations import Bound, Caller, Differs, model_of, offered, read_input
from mnemon.telemetry import logger

router = APIRouter(tags=["documents"])
# The last one is the page of the web, for browsers without script.
PATHS = frozenset({"/v1/ingest", "/api/ingest", "/upload"})
# What a form needs around its files.
SLACK = 1 << 20
Files = Annotated[list[Any], WithJsonSchema({"type": "array", "items": {"type": "string", "format": "binary"}})]
SEVERAL = {"file": Differs("A form may have several fields of this name.", default=..., takes=Files)}
SENT = model_of("UploadForm", offered(upload, SEVERAL)).model_json_schema()
FORM = {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": SENT}}}}
FIELDS = SENT["properties"].keys() - {"file"}
# In a form one line may hold them all, separated by commas.
LISTS = ("tags", "participants", "readers")

log = logger(__name__)


class FilesTaken(BaseModel):
    """What came of each file."""

    files: list[FileTaken]


@router.post(
    "/ingest",
    summary="Upload files; each becomes a run, or is known already",
    status_code=202,
    response_model=FileTaken | FilesTaken,
    responses={**failure_answers(upload.errors), 200: {"model": FileTaken}, 207: {"model": FilesTaken}},
    openapi_extra=FORM,
)
async def ingest(
    request: Request, mnemon: MnemonPart, principal: Annotated[Principal, allow(upload.action)]
) -> Response:
    refuse_unknown(request)
    caller = Caller.of(principal, address_of(request))
    try:
        form, asked = await read_upload(request, mnemon, caller)
    except MnemonError as refusal:
        answer = await answer_failure(request, refusal)
        # The rest of the body is not read: what follows on this connection would be taken for a request.
        answer.headers["Connection"] = "close"
        return answer
    if len(form.files) == 1:
        taken = await _take(mnemon, caller, form.files[0], asked)
        return _answer(taken, 202 if taken.run_id else 200)
    told = [await take_one_of_many(mnemon, caller, one, asked) for one in form.files]
    if all(one.error_code == DatabaseUnavailable.code for one in told):
        raise DatabaseUnavailable(told[0].reason or "")
    refused = any(one.error_code for one in told)
    queued = any(one.run_id for one in told)
    return _answer(FilesTaken(files=told), 207 if refused else 202 if queued else 200)


ingest.bound = Bound(upload, SEVERAL)  # type: ignore[attr-defined]


async def read_upload(
    request: Request, mnemon: Mnemon, caller: Caller, check: Callable[[UploadForm], None] = lambda form: None
) -> tuple[UploadForm, UploadFields]:  # fmt: skip
    """Files are on disk then. `check` may refuse what came with them, and takes out fields that are its own."""
    settings = mnemon.settings
    most = settings.upload_max_files * mnemon.files.largest + SLACK
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced) > most:
        raise UploadTooLarge(f"The upload is over {most} bytes.", most_bytes=most)
    reader = FormReader(
        mnemon.files,
        caller.tenant_id,
        most_files=settings.upload_max_files,
        idle_seconds=settings.upload_idle_seconds,
    )
    form = await reader.read(request)
    try:
        check(form)
        return form, _asked(form)
    except MnemonError:
        await asyncio.to_thread(reader.discard)
        raise


def _asked(form: UploadForm) -> UploadFields:
    unknown = form.fields.keys() - FIELDS
    if unknown:
        raise UnfitField(
            f"The form has the unknown field {min(unknown)!r}; known are file, {', '.join(sorted(FIELDS))}.",
            field=min(unknown),
        )
    given: dict[str, Any] = {name: form.every(name) if name in LISTS else form.one(name) for name in FIELDS}
    asked = read_input(upload, {name: value for name, value in given.items() if value is not None})
    if len(form.files) > 1 and (asked.title or asked.source_uri):
        raise UnfitField("title and source_uri belong to a single file: upload such files one by one.")
    checked_origin(asked.origin())
    return asked


async def _take(mnemon: Mnemon, caller: Caller, file: Received | Refused, asked: UploadFields) -> FileTaken:
    if isinstance(file, Refused):
        raise file.reason
    return await upload(mnemon, caller, asked.model_copy(update={"file": file}))


async def take_one_of_many(mnemon: Mnemon, caller: Caller, file: Received | Refused, asked: UploadFields) -> FileTaken:
    """Whatever fails, the others are taken in, and the sender learns of each."""
    try:
        return await _take(mnemon, caller, file, asked)
    except MnemonError as failure:
        refusal = failure
    except psycopg.OperationalError as failure:
        log.error("database_failed", error=str(failure).strip())
        refusal = DatabaseUnavailable("The database does not answer just now: try again.")
    return FileTaken(status="refused", filename=file.filename, error_code=refusal.code, reason=refusal.message)


def _answer(body: BaseModel, status: int) -> Response:
    return Response(body.model_dump_json(exclude_unset=True), status, media_type="application/json")
