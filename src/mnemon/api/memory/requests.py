"""What is special about requests to memory: 400 for a malformed one, and headers that name the world and branch."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any
from urllib.parse import parse_qs, urlencode
from uuid import UUID

import psycopg
from fastapi import Header, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from mnemon.api.failures import placed, untold_type
from mnemon.errors import InvalidRequest
from mnemon.log.errors import InvalidEvent
from mnemon.memory.errors import InvalidMemory
from mnemon.operations import refusal_of

# Go along with every request of a client that works in one place.
HEADERS = {"world_id": "x-world-id", "branch": "x-branch"}


def named_place(
    x_world_id: Annotated[UUID | None, Header(description="The same as `world_id`.")] = None,
    x_branch: Annotated[str | None, Header(max_length=100, description="The same as `branch`.")] = None,
) -> None:
    """Tells of the headers where routes are described; `MemoryRoute` reads them."""


class MemoryRoute(APIRoute):
    """Answers a malformed request with 400, as the memory API promises; other routes say 422."""

    malformed = InvalidMemory

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()
        in_query = getattr(self.endpoint, "query_names", ())
        names = [name for name in HEADERS if name in in_query]

        async def answered(request: Request) -> Response:
            try:
                name_place(request, names)
                return await handler(request)
            except RequestValidationError as failure:
                refused = untold_type(request, failure) or refusal_of(map(placed, failure.errors()))
                raise InvalidMemory(refused.message, **refused.details) from None
            except InvalidMemory:
                raise
            except (InvalidRequest, InvalidEvent) as failure:
                raise InvalidMemory(failure.message, **failure.details) from None
            except psycopg.DataError:
                raise InvalidMemory(
                    "A value in this request is none that is ever stored: see its characters."
                ) from None

        return answered


def name_place(request: Request, names: list[str]) -> None:
    """A header that names the world or branch counts as if the query did; two names for one thing are refused."""
    query = parse_qs(request.scope["query_string"].decode(), keep_blank_values=True)
    for name in names:
        header = request.headers.get(HEADERS[name])
        if header is None:
            continue
        named = query.get(name, [header])
        if named != [header]:
            raise InvalidMemory(f"The query names the {name} {named[0]}, the header {header}: give one.")
        query[name] = [header]
    request.scope["query_string"] = urlencode(query, doseq=True).encode()
