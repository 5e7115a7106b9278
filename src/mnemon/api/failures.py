"""How failures leave the server: one JSON shape, the right status, and no inner detail."""

from typing import Any

import psycopg
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from mnemon.errors import (
    DatabaseUnavailable,
    InvalidRequest,
    MethodNotAllowed,
    MnemonError,
    NotFound,
    RequestTooLarge,
)
from mnemon.telemetry import logger

log = logger(__name__)


def add_failure_answers(api: FastAPI) -> None:
    api.add_exception_handler(MnemonError, answer_failure)
    api.add_exception_handler(RequestValidationError, _answer_validation)
    api.add_exception_handler(HTTPException, _answer_http)
    api.add_exception_handler(psycopg.OperationalError, _answer_database)
    api.add_exception_handler(psycopg.DataError, _answer_value)
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
    problems = [_problem(error) for error in failure.errors()]
    first = problems[0]
    return await answer_failure(request, InvalidRequest(f"{first['field']}: {first['problem']}", problems=problems))


def _problem(error: dict[str, Any]) -> dict[str, str]:
    """Where and what, without the value: it may be a password."""
    where = [str(part) for part in error["loc"]]
    if where and where[0] in ("body", "query", "path", "header"):
        where = where[1:]
    return {"field": ".".join(where) or "body", "problem": error["msg"]}


async def _answer_http(request: Request, failure: Exception) -> JSONResponse:
    assert isinstance(failure, HTTPException)
    known: dict[int, MnemonError] = {
        404: NotFound(f"There is nothing at {request.url.path}; /openapi.json lists the routes."),
        405: MethodNotAllowed(f"{request.url.path} does not take {request.method}."),
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


async def _answer_surprise(request: Request, failure: Exception) -> JSONResponse:
    """The middleware logs the traceback; the caller gets the request's id to quote."""
    request_id = getattr(request.state, "request_id", None)
    return await answer_failure(
        request, MnemonError("Something went wrong here; the log has the details.", request_id=request_id)
    )
