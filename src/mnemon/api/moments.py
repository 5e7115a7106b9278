"""Times as callers write them over REST: a moment with its zone, or a bare day, of which one end is meant."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from mnemon.errors import InvalidRequest
from mnemon.log.read.query import end_of, start_of


def _reading(read: Callable[[str], datetime]) -> BeforeValidator:
    """A number is refused: nobody who writes 2026 means that many seconds after 1970."""

    def written(value: Any) -> Any:
        if value is None or isinstance(value, datetime):
            return value
        try:
            return read(str(value))
        except InvalidRequest as refusal:
            raise PydanticCustomError("moment", "{says}", {"says": refusal.message}) from None

    return BeforeValidator(written)


FirstMoment = Annotated[datetime, _reading(start_of)]
LastMoment = Annotated[datetime, _reading(end_of)]
