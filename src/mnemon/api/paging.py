"""Pages: a limit, and an opaque cursor that says where the next page starts; or numbered pages with a total."""

from typing import Annotated, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel

from mnemon.inputs import from_cursor, to_cursor

__all__ = ["Cursor", "Limit", "Numbered", "Page", "PageNumber", "PageSize", "from_cursor", "to_cursor"]

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
