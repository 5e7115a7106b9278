"""Leave to read what is a little behind: given by whoever writes nothing, taken where there is a replica."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

Answer = TypeVar("Answer")


@dataclass(eq=False)
class Leave:
    """It ends with what it was given for, whatever tasks that has started and left behind."""

    given: bool = True
    used: bool = False


_leave: ContextVar[Leave | None] = ContextVar("leave_to_read_behind", default=None)


def leave_to_lag() -> Leave | None:
    leave = _leave.get()
    return leave if leave is not None and leave.given else None


async def reading_behind(read: Callable[[], Awaitable[Answer]]) -> Answer:
    """What is read within may be as old as the settings allow. It writes nothing: where the replica fails, or does not
    know yet what is asked for, all of it is read again from the primary."""
    leave = Leave()
    token = _leave.set(leave)
    try:
        return await read()
    except Exception:
        if not leave.used:
            raise
    finally:
        leave.given = False
        _leave.reset(token)
    return await read()
