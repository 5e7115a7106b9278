"""Pages: a limit, and an opaque cursor that says where the next page starts."""

from typing import Annotated, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel

from mnemon.inputs import from_cursor, to_cursor

__all__ = ["Cursor", "Limit", "Page", "from_cursor", "to_cursor"]

Item = TypeVar("Item")
Limit = Annotated[int, Query(ge=1, le=1000, description="Most items on this page.")]
Cursor = Annotated[str | None, Query(max_length=2000, description="`next_cursor` of the page before.")]


class Page(BaseModel, Generic[Item]):
    """One page of a list; the last one has no cursor."""

    items: list[Item]
    next_cursor: str | None = None
