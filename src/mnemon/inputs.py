"""The values that inputs of operations are made of: days, moments, pages. Read once, the same on every door."""

import base64
import binascii
import contextlib
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from mnemon.errors import InvalidRequest
from mnemon.log.read.query import end_of, start_of
from mnemon.problems import SENTENCE

MOMENT = WithJsonSchema({"type": "string", "maxLength": 40, "examples": ["2026-03-01", "2026-03-01T09:30Z"]})
DAY = WithJsonSchema({"type": "string", "format": "date", "examples": ["2026-03-01"]})


def _reading(read: Callable[[str], Any]) -> BeforeValidator:
    """A number is refused: nobody who writes 2026 means that many seconds after 1970."""

    def written(value: Any) -> Any:
        if value is None or isinstance(value, date):
            return value
        try:
            return read(str(value))
        except InvalidRequest as refusal:
            raise PydanticCustomError("moment", "{says}", {"says": refusal.message}) from None

    return BeforeValidator(written)


def _day(text: str) -> date:
    try:
        if len(text) == 10:
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise InvalidRequest(f"{text!r} is not a day like 2026-03-01.")


def _not_to_come(moment: datetime) -> datetime:
    return min(moment, datetime.now(UTC))


def _unless_blank(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


def sentence(says: str) -> PydanticCustomError:
    """A refusal that is said whole: what was given, what is wrong with it, what to do."""
    return PydanticCustomError(SENTENCE, "{says}", {"says": says})


# A moment with its zone, or a bare day, of which one end is meant.
FirstMoment = Annotated[datetime, _reading(start_of), MOMENT]
LastMoment = Annotated[datetime, _reading(end_of), MOMENT]
# Of what was known: nothing is known of the rest of today.
PastMoment = Annotated[datetime, _reading(end_of), AfterValidator(_not_to_come), MOMENT]
Day = Annotated[date, _reading(_day), DAY]

Value = TypeVar("Value")
# Agents and forms leave a filter blank to say that they do not ask for it.
Maybe = Annotated[Value | None, BeforeValidator(_unless_blank)]


def checked_order(first: datetime | None, last: datetime | None) -> None:
    """A span that ends before it begins holds nothing: its ends were exchanged."""
    if first is not None and last is not None and first > last:
        raise sentence(f"{first:%Y-%m-%d} is after {last:%Y-%m-%d}, where the span ends: exchange the two.")


Cursor = Annotated[
    str | None, Field(max_length=2000, description="`next_cursor` of the page before; leave out for the first.")
]


def page_of(found: Sequence[Value], limit: int, position: Callable[[Value], object]) -> dict[str, Any]:
    """A page and where the next one starts: one more than the limit was asked for, to learn whether there is one."""
    following = to_cursor(str(position(found[limit - 1]))) if len(found) > limit else None
    return {"items": found[:limit], "next_cursor": following}


def to_cursor(position: str) -> str:
    """Where the next page starts, in a form that nobody is meant to read."""
    return base64.urlsafe_b64encode(orjson.dumps(position)).decode().rstrip("=")


def from_cursor(cursor: str | None) -> str | None:
    if cursor is None:
        return None
    with contextlib.suppress(binascii.Error, ValueError):
        position = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if isinstance(position, str):
            return position
    raise InvalidRequest("This cursor is not one that a page gave: leave it out to start over.", cursor=cursor)
