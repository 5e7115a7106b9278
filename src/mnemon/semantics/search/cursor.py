"""Where the next page of events begins, as a text that only we read."""

import base64
import binascii
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

import orjson

from mnemon.errors import InvalidRequest

# What a place must hold, each with what makes a value of it or fails.
CursorFields = Mapping[str, Callable[[Any], Any]]
# No cursor of ours points further.
FURTHEST = 100_000


def offset(value: Any) -> int:
    return min(max(int(value), 0), FURTHEST)


def moment(value: Any) -> str:
    return datetime.fromisoformat(value).isoformat()


def day(value: Any) -> str | None:
    return None if value is None else date.fromisoformat(value).isoformat()


def to_cursor(place: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(place)).decode()


def from_cursor(cursor: str | None, *places: CursorFields) -> dict[str, Any]:
    """The place, which is of one of these kinds; nothing without a cursor."""
    if cursor is None:
        return {}
    try:
        given = orjson.loads(base64.urlsafe_b64decode(cursor))
        for place in places:
            if set(given) == set(place):
                return {name: check(given[name]) for name, check in place.items()}
    except (ValueError, TypeError, OverflowError, binascii.Error):
        pass
    raise InvalidRequest("The cursor is not one of ours: take next_cursor of the page before.")
