"""No minute ever holds more requests than the limit, and nobody waits longer than that takes."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from mnemon.models.rate import MINUTE, RateLimit


class Time:
    """A clock that only sleeping and the test move."""

    def __init__(self) -> None:
        self.now = 0.0

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@given(limit=st.integers(1, 5), gaps=st.lists(st.floats(0, 40), min_size=1, max_size=30))
def test_no_minute_holds_more_than_the_limit(limit: int, gaps: list[float]) -> None:
    time, starts = Time(), []
    rate = RateLimit(limit, lambda: time.now, time.sleep)

    async def ask() -> None:
        for gap in gaps:
            time.now += gap
            before = time.now
            await rate.turn()
            if len(starts) < limit or before - starts[-limit] >= MINUTE:
                assert time.now == before
            starts.append(time.now)

    asyncio.run(ask())
    for earlier, later in zip(starts, starts[limit:], strict=False):
        assert later - earlier >= MINUTE - 1e-6


async def test_no_limit_never_waits() -> None:
    time = Time()
    rate = RateLimit(0, lambda: time.now, time.sleep)
    for _ in range(1_000):
        await rate.turn()
    assert time.now == 0
