"""What every request about memory says: who asks, in which world and branch, about which object, under which key."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any
from uuid import UUID

import psycopg
from fastapi import Depends, Header, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from mnemon.api.access import MnemonPart, allow
from mnemon.errors import InvalidRequest
from mnemon.identity.roles import Action, Principal
from mnemon.log.errors import InvalidEvent
from mnemon.log.events import MAIN
from mnemon.memory.change_events import Author
from mnemon.memory.errors import InvalidMemory
from mnemon.memory.objects import Place

Reader = Annotated[Principal, allow(Action.READ_MEMORY)]
Writer = Annotated[Principal, allow(Action.WRITE_MEMORY)]
Keeper = Annotated[Principal, allow(Action.MANAGE_MEMORY)]
AsOf = Annotated[
    str | None,
    Query(
        max_length=40,
        description="`v3` is a version; a number is a log sequence; else a moment like 2026-03-01T09:30Z.",
    ),
]
IdempotencyKey = Annotated[
    str | None, Header(min_length=1, max_length=150, description="A repeat of the same key is answered with 409.")
]
BranchName = Annotated[str, Path(max_length=100)]


class MemoryRoute(APIRoute):
    """Answers a malformed request with 400, as the memory API promises; other routes say 422."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                return await handler(request)
            except RequestValidationError as failure:
                problems = [
                    {"field": ".".join(str(part) for part in one["loc"][1:]) or "body", "problem": one["msg"]}
                    for one in failure.errors()
                ]
                first = problems[0]
                raise InvalidMemory(f"{first['field']}: {first['problem']}", problems=problems) from None
            except InvalidMemory:
                raise
            except (InvalidRequest, InvalidEvent) as failure:
                raise InvalidMemory(failure.message, **failure.details) from None
            except psycopg.DataError:
                raise InvalidMemory(
                    "A value in this request is none that is ever stored: see its characters."
                ) from None

        return answered


class WhereAsked:
    """World and branch as the request names them, in the query or in headers."""

    def __init__(
        self,
        world_id: Annotated[UUID | None, Query(description="Unset: the tenant's own world.")] = None,
        branch: Annotated[str | None, Query(max_length=100, description="Unset: main.")] = None,
        x_world_id: Annotated[UUID | None, Header(description="The same as `world_id`.")] = None,
        x_branch: Annotated[str | None, Header(max_length=100, description="The same as `branch`.")] = None,
    ) -> None:
        if world_id and x_world_id and world_id != x_world_id:
            raise InvalidMemory(f"The query names the world {world_id}, the header {x_world_id}: give one.")
        if branch and x_branch and branch != x_branch:
            raise InvalidMemory(f"The query names the branch {branch}, the header {x_branch}: give one.")
        self._world = world_id or x_world_id
        self._branch = branch or x_branch

    def place(self, principal: Principal) -> Place:
        return Place(self._world or principal.tenant_id, self._branch or MAIN)

    def branch(self, principal: Principal, name: str) -> Place:
        """A branch that the path or the body names; a header that goes along with every request does not count."""
        return Place(self._world or principal.tenant_id, name)


Where = Annotated[WhereAsked, Depends(WhereAsked)]


class _Reading:
    """A request to look at a branch. `here`: its tenant and place, with which every function of memory begins."""

    def __init__(self, mnemon: MnemonPart, principal: Reader, where: Where) -> None:
        self.memory = mnemon.memory
        self.place = where.place(principal)
        self.here = principal.tenant_id, self.place


class _Change:
    """A request to change an object. `target`: with what every function of `memory.changes` about one begins."""

    def __init__(
        self,
        emo_id: UUID,
        mnemon: MnemonPart,
        principal: Writer,
        where: Where,
        idempotency_key: IdempotencyKey = None,
    ) -> None:
        self.changes = mnemon.memory.changes
        self.target = principal.tenant_id, where.place(principal), author_of(principal, idempotency_key), emo_id


class _BranchReading:
    """A request to look at a branch that the path names."""

    def __init__(self, branch_name: BranchName, mnemon: MnemonPart, principal: Reader, where: Where) -> None:
        self.memory = mnemon.memory
        self.here = principal.tenant_id, where.branch(principal, branch_name)


class _BranchChange:
    """A request to do something to a branch that the path names."""

    def __init__(self, branch_name: BranchName, mnemon: MnemonPart, principal: Writer, where: Where) -> None:
        self.memory = mnemon.memory
        self.target = principal.tenant_id, where.branch(principal, branch_name), author_of(principal)


ReadingAsked = Annotated[_Reading, Depends(_Reading)]
ChangeAsked = Annotated[_Change, Depends(_Change)]
BranchReadingAsked = Annotated[_BranchReading, Depends(_BranchReading)]
BranchChangeAsked = Annotated[_BranchChange, Depends(_BranchChange)]


def author_of(principal: Principal, key: str | None = None) -> Author:
    return Author(principal.actor, "api", key)
