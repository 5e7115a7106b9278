"""Uploading over REST: one file or many, each with its own outcome."""

import asyncio
from typing import Annotated, Any
from uuid import UUID

import psycopg
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.api.failures import answer_failure
from mnemon.api.uploads import Form, FormReader, Refused
from mnemon.app import Mnemon
from mnemon.documents.errors import UnfitField, UploadTooLarge
from mnemon.documents.intake.arrival import Outcome
from mnemon.documents.intake.files import Received
from mnemon.documents.intake.origin import RETENTIONS, SENSITIVITIES, TYPES, Origin, checked_origin
from mnemon.documents.intake.receive import accept
from mnemon.errors import DatabaseUnavailable, MnemonError
from mnemon.identity.roles import Action, Principal
from mnemon.log.read.query import end_of, start_of
from mnemon.telemetry import logger

router = APIRouter(tags=["documents"])
PATHS = frozenset({"/v1/ingest", "/api/ingest"})
# What a form may say beside its files, as OpenAPI tells it.
FIELDS: dict[str, str] = {
    "title": "Of a single file. Default: its name.",
    "tags": "Separated by commas, for every file.",
    "source_uri": "Where a single file comes from, like file:///policies/travel.pdf: another content from there is a "
    "new revision of the same document. Default: the content itself.",
    "document_type": f"{', '.join(TYPES)}. Default: email for a mail, else doc.",
    "source_system": "The system that it comes from.",
    "source_id": "Its id there.",
    "source_url": "Where it can be opened.",
    "author": "Who wrote it. Default: as the file says.",
    "participants": "Who took part, separated by commas.",
    "written_at": "When it was written, a day or a moment.",
    "sensitivity": f"{', '.join(SENSITIVITIES)}.",
    "visibility_scope": "Who may read it: me, team, org or custom. Default: org, everyone here.",
    "readers": "E-mail addresses or user:…, separated by commas, with custom or team.",
    "retention_policy": f"How long it is kept: {', '.join(RETENTIONS)}.",
    "retain_until": "With custom: when it is purged.",
}
PLAIN = (
    "title", "source_uri", "document_type", "source_system", "source_id", "source_url", "author", "sensitivity",
    "visibility_scope", "retention_policy",
)  # fmt: skip
# What a form needs around its files.
SLACK = 1 << 20
SKIPPED = "already ingested, no changes"

log = logger(__name__)


class Accepted(BaseModel):
    """What came of one file."""

    run_id: UUID | None = Field(None, description="The run to follow; absent where nothing had to be done.")
    doc_id: UUID | None = None
    status: str = Field(description="queued, skipped, or with several files refused")
    reason: str | None = None
    filename: str
    content_hash: str | None = None
    dedup_result: str | None = Field(None, description="new, new_version, reprocess or skipped")
    error_code: str | None = None


class AcceptedMany(BaseModel):
    files: list[Accepted]


FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "description": "One file, or several fields of this name.",
                        },
                        **{name: {"type": "string", "description": told} for name, told in FIELDS.items()},
                    },
                }
            }
        },
    }
}


@router.post(
    "/ingest",
    summary="Upload files; each becomes a run, or is known already",
    status_code=202,
    response_model=Accepted | AcceptedMany,
    responses={200: {"model": Accepted}, 207: {"model": AcceptedMany}},
    openapi_extra=FORM,
)
async def ingest(
    request: Request, mnemon: MnemonPart, principal: Annotated[Principal, allow(Action.UPLOAD_DOCUMENTS)]
) -> JSONResponse:
    try:
        form, origin = await _read(request, mnemon, principal)
    except MnemonError as refusal:
        answer = await answer_failure(request, refusal)
        # The rest of the body is not read: what follows on this connection would be taken for a request.
        answer.headers["Connection"] = "close"
        return answer
    if len(form.files) == 1:
        outcome = await _accept(mnemon, principal, form.files[0], origin)
        return _answer(_told(outcome), 202 if outcome.run_id else 200)
    told = [await _accept_one_of_many(mnemon, principal, one, origin) for one in form.files]
    if all(one.error_code == DatabaseUnavailable.code for one in told):
        raise DatabaseUnavailable(told[0].reason or "")
    refused = any(one.error_code for one in told)
    queued = any(one.run_id for one in told)
    return _answer(AcceptedMany(files=told), 207 if refused else 202 if queued else 200)


async def _read(request: Request, mnemon: Mnemon, principal: Principal) -> tuple[Form, Origin]:
    settings = mnemon.settings
    most = settings.upload_max_files * mnemon.files.largest + SLACK
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced) > most:
        raise UploadTooLarge(f"The upload is over {most} bytes.", most_bytes=most)
    reader = FormReader(
        mnemon.files,
        principal.tenant_id,
        most_files=settings.upload_max_files,
        idle_seconds=settings.upload_idle_seconds,
    )
    form = await reader.read(request)
    try:
        return form, _origin(form)
    except MnemonError:
        await asyncio.to_thread(reader.discard)
        raise


def _origin(form: Form) -> Origin:
    unknown = form.fields.keys() - FIELDS
    if unknown:
        raise UnfitField(
            f"The form has the unknown field {min(unknown)!r}; known are file, {', '.join(sorted(FIELDS))}.",
            field=min(unknown),
        )
    given: dict[str, Any] = {name: form.one(name) for name in FIELDS}
    origin = Origin(
        **{name: given[name] for name in PLAIN},
        tags=_listed(given["tags"]) if given["tags"] is not None else None,
        source_type=(given["source_uri"] or "upload://").partition("://")[0],
        participants=tuple(_listed(given["participants"])),
        readers=tuple(_listed(given["readers"])),
        written_at=start_of(given["written_at"]) if given["written_at"] else None,
        retain_until=end_of(given["retain_until"]) if given["retain_until"] else None,
    )
    if len(form.files) > 1 and (origin.title or origin.source_uri):
        raise UnfitField("title and source_uri belong to a single file: upload such files one by one.")
    return checked_origin(origin)


def _listed(words: str | None) -> list[str]:
    return [word.strip() for word in (words or "").split(",") if word.strip()]


async def _accept(mnemon: Mnemon, principal: Principal, file: Received | Refused, origin: Origin) -> Outcome:
    if isinstance(file, Refused):
        raise file.reason
    return await accept(mnemon.log, mnemon.files, principal.tenant_id, principal.actor, file, origin)


async def _accept_one_of_many(
    mnemon: Mnemon, principal: Principal, file: Received | Refused, origin: Origin
) -> Accepted:
    """Whatever fails, the others are taken in, and the sender learns of each."""
    try:
        return _told(await _accept(mnemon, principal, file, origin))
    except MnemonError as failure:
        refusal = failure
    except psycopg.OperationalError as failure:
        log.error("database_failed", error=str(failure).strip())
        refusal = DatabaseUnavailable("The database does not answer just now: try again.")
    return Accepted(status="refused", filename=file.filename, error_code=refusal.code, reason=refusal.message)


def _told(outcome: Outcome) -> Accepted:
    return Accepted(
        run_id=outcome.run_id,
        doc_id=outcome.doc_id,
        status=outcome.status,
        reason=None if outcome.run_id else SKIPPED,
        filename=outcome.filename,
        content_hash=outcome.content_hash,
        dedup_result=outcome.dedup,
    )


def _answer(body: BaseModel, status: int) -> JSONResponse:
    return JSONResponse(body.model_dump(mode="json", exclude_none=True), status)
