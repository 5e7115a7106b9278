"""What a browser is shown where nothing answers or something breaks; programs get JSON."""

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import WebSocketRequestValidationError

from mnemon.identity.roles import Action
from mnemon.web.rendering import Visitor, problem_page, visit

# Here no person looks, whatever the browser says that it takes.
FOR_PROGRAMS = ("/v1/", "/api/", "/mcp", "/openapi.json", "/asyncapi.json", "/health", "/ready", "/metrics", "/static/")
Answer = Callable[[Request, Any], Awaitable[Response]]


def add_failure_pages(site: FastAPI) -> None:
    """In the place of the answers that the API gives, for those who look at pages."""
    for kind, answer in list(site.exception_handlers.items()):
        if kind is not WebSocketRequestValidationError:
            site.add_exception_handler(kind, _in_words(answer))


def _in_words(answer: Any) -> Answer:
    async def told(request: Request, failure: Exception) -> Response:
        plain: Response = await answer(request, failure)
        if not _is_person(request) or not plain.headers.get("content-type", "").startswith("application/json"):
            return plain
        said = orjson.loads(plain.body).get("error", "")
        message = f"There is nothing at {request.url.path}." if plain.status_code == 404 else said
        return problem_page(await _visitor(request), message, plain.status_code)

    return told


def _is_person(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(FOR_PROGRAMS)


async def _visitor(request: Request) -> Visitor | None:
    """Who looks, if that can be told: the page about a failure must not fail."""
    known: Visitor | None = getattr(request.state, "visitor", None)
    if known is not None or request.method != "GET":
        return known
    try:
        return await visit(request, Action.VIEW_OWN_ACCOUNT)
    except Exception:
        return None
