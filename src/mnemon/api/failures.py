"""How failures leave the server: one JSON shape, the right status, and no inner detail."""

import errno
from collections.abc import Iterable
from typing import Any

import psycopg
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from mnemon.errors import (
    DatabaseUnavailable,
    DiskFull,
    InvalidRequest,
    MethodNotAllowed,
    MnemonError,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    RequestTooLarge,
)
from mnemon.operations import refusal_of
from mnemon.telemetry import logger

log = logger(__name__)
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
PARTS = {("body",), ("query",), ("path",), ("header",)}


class Failure(BaseModel):
    """How every failure is told."""

    error: str = Field(description="A sentence that names the value and the remedy.")
    error_code: str = Field(description="Stays the same; docs/reference/errors.md lists them.")
    details: dict[str, Any] = Field(description="Of a request that does not fit: `problems`, each with its `field`.")


# By its name: a field made anew for each status of each route would make the server start later.
A_FAILURE = {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}}


class ToldApi(FastAPI):
    """Its description holds the form of failures, to which every route refers."""

    def openapi(self) -> dict[str, Any]:
        told = super().openapi()
        told.setdefault("components", {}).setdefault("schemas", {}).setdefault("Failure", Failure.model_json_schema())
        return told


def failure_answers(
    errors: Iterable[type[MnemonError]] = (), malformed: type[MnemonError] = InvalidRequest
) -> dict[int | str, dict[str, Any]]:
    """The failures of a route as OpenAPI lists them: one schema, by status; any other has the same form."""
    by_status: dict[int, list[str]] = {}
    every: list[type[MnemonError]] = [NotAuthenticated, NotAllowed, malformed, *errors]
    for one in dict.fromkeys(every):
        by_status.setdefault(one.status, []).append(f"`{one.code}`: {(one.__doc__ or '').strip()}")
    told: dict[int | str, str] = {status: " ".join(by_status[status]) for status in sorted(by_status)}
    told["default"] = "Any other failure."
    return {status: {"description": text, "content": A_FAILURE} for status, text in told.items()}


def malformed_of(router: APIRouter) -> type[MnemonError]:
    """What the routes of this router say to a request that does not fit; their class may have a word of its own."""
    return getattr(router.route_class, "malformed", InvalidRequest)


def add_failure_answers(api: FastAPI) -> None:
    api.add_exception_handler(MnemonError, answer_failure)
    api.add_exception_handler(RequestValidationError, _answer_validation)
    api.add_exception_handler(HTTPException, _answer_http)
    api.add_exception_handler(psycopg.OperationalError, _answer_database)
    api.add_exception_handler(psycopg.DataError, _answer_value)
    api.add_exception_handler(OverflowError, _answer_overflow)
    api.add_exception_handler(OSError, _answer_system)
    api.add_exception_handler(Exception, _answer_surprise)


async def answer_failure(request: Request, failure: Exception) -> JSONResponse:
    assert isinstance(failure, MnemonError)
    headers = {}
    if "retry_after_seconds" in failure.details:
        headers["Retry-After"] = str(failure.details["retry_after_seconds"])
    if failure.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if failure.status == 413:
        # The rest of the body is not read.
        headers["Connection"] = "close"
    return JSONResponse(failure.as_json(), failure.status, headers)


async def _answer_validation(request: Request, failure: Exception) -> JSONResponse:
    assert isinstance(failure, RequestValidationError)
    return await answer_failure(request, untold_type(request, failure) or refusal_of(map(placed, failure.errors())))


def untold_type(request: Request, failure: RequestValidationError) -> InvalidRequest | None:
    """Of a body that was not taken for JSON since nobody said that it is."""
    sent_as = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    has_body = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    about_body = any(tuple(one["loc"]) == ("body",) for one in failure.errors())
    if not (has_body and about_body) or sent_as == "application/json" or sent_as.endswith("+json"):
        return None
    said = f"says Content-Type: {sent_as}" if sent_as else "has no Content-Type"
    return InvalidRequest(f"The request {said}: send the header Content-Type: application/json with a JSON body.")


def placed(error: Any) -> dict[str, Any]:
    """A field by its own name, not by the part of the request that it came in."""
    where = tuple(error["loc"])
    return {**error, "loc": where[1:] if where[:1] in PARTS else where}


async def _answer_http(request: Request, failure: Exception) -> JSONResponse:
    assert isinstance(failure, HTTPException)
    known: dict[int, MnemonError] = {
        404: NotFound(f"There is nothing at {request.url.path}; /openapi.json lists the routes."),
        405: MethodNotAllowed(
            f"{request.url.path} does not take {request.method}"
            + (f", but {taken}." if (taken := (failure.headers or {}).get("Allow")) else ".")
        ),
        413: RequestTooLarge("The request body is too large."),
    }
    return await answer_failure(request, known.get(failure.status_code) or InvalidRequest(str(failure.detail)))


async def _answer_database(request: Request, failure: Exception) -> JSONResponse:
    log.error("database_failed", error=str(failure).strip())
    return await answer_failure(request, DatabaseUnavailable("The database does not answer just now: try again."))


async def _answer_value(request: Request, failure: Exception) -> JSONResponse:
    assert isinstance(failure, psycopg.DataError)
    return await answer_failure(request, unusable_value(failure))


def unusable_value(failure: psycopg.DataError) -> InvalidRequest:
    """A null character or a number beyond 64 bits: nothing that is stored can be asked for with it."""
    # The rest of the message shows the statement.
    reason = failure.diag.message_primary or str(failure).partition("\n")[0]
    return InvalidRequest(f"A value cannot be used: {reason.strip()}")


async def _answer_system(request: Request, failure: Exception) -> JSONResponse:
    """A full disk is nobody's surprise, whatever was being written; any other failure of the system is one."""
    assert isinstance(failure, OSError)
    if failure.errno not in NO_ROOM:
        raise failure
    told = f"The server cannot write to its disk ({failure.strerror}): make room there, then try again."
    log.error("disk_full", error=str(failure), path=request.url.path)
    return await answer_failure(request, DiskFull(told))


async def _answer_overflow(request: Request, failure: Exception) -> JSONResponse:
    """A number or a date that no column and no calendar holds."""
    return await answer_failure(request, InvalidRequest(f"A number or date is out of range: {failure}."))


async def _answer_surprise(request: Request, failure: Exception) -> JSONResponse:
    """The middleware logs the traceback; the caller gets the request's id to quote."""
    request_id = getattr(request.state, "request_id", None)
    return await answer_failure(
        request, MnemonError("Something went wrong here; the log has the details.", request_id=request_id)
    )
