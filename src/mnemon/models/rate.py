"""At most so many requests in any minute, first come, first served."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable

MINUTE = 60.0


class RateLimit:
    """Counts the requests of this process; several processes each have their own count."""

    def __init__(
        self,
        per_minute: int,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._starts: deque[float] = deque(maxlen=per_minute)
        self._line = asyncio.Lock()
        self._clock = clock
        self._sleep = sleep

    async def turn(self) -> None:
        """Return when the next request may start. A limit of 0 is none."""
        if not self._starts.maxlen:
            return
        async with self._line:
            if len(self._starts) == self._starts.maxlen:
                wait = self._starts[0] + MINUTE - self._clock()
                if wait > 0:
                    await self._sleep(wait)
            self._starts.append(self._clock())
