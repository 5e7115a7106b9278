"""Pages: a limit, and an opaque cursor that says where the next page starts; or numbered pages with a total."""

import base64
import binascii
import contextlib
from typing import Annotated, Any, Generic, TypeVar

import orjson
from fastapi import Query
from pydantic import BaseModel

from mnemon.errors import InvalidRequest

Item = TypeVar("Item")
Limit = Annotated[int, Query(ge=1, le=1000, description="Most items on this page.")]
Cursor = Annotated[str | None, Query(max_length=2000, description="`next_cursor` of the page before.")]
PageNumber = Annotated[int, Query(ge=1, le=1_000_000, description="Which page, from 1.")]
PageSize = Annotated[int, Query(ge=1, le=200, description="Most items on this page.")]


class Numbered(BaseModel, Generic[Item]):
    """One page of a list that people leaf through, and how many items there are in all."""

    items: list[Item]
    total: int
    page: int
    limit: int


class Page(BaseModel, Generic[Item]):
    """One page of a list; the last one has no cursor."""

    items: list[Item]
    next_cursor: str | None = None


def to_cursor(position: Any) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(position)).decode().rstrip("=")


def from_cursor(cursor: str | None) -> Any:
    if cursor is None:
        return None
    with contextlib.suppress(binascii.Error, ValueError):
        position = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if isinstance(position, str):
            return position
    raise InvalidRequest("This cursor is not one that a page gave: leave it out to start over.", cursor=cursor)
