"""Promises of speed, checked so that a busy machine may take a few tries but a slow program never passes."""

import time
from collections.abc import Awaitable, Callable

from tests.patience import PATIENCE

# What the sum below takes on an ordinary machine: the promises are made for one.
ORDINARY_SECONDS = 0.001


async def takes_less_than(seconds: float, measured: Callable[[], Awaitable[object]]) -> None:
    """At least one of many calls is that quick: whatever else the machine does can only add to what a call takes. A
    machine that is slow by itself has as much more time as it is slower."""
    until = time.monotonic() + PATIENCE
    best = float("inf")
    seconds *= max(1.0, _own_seconds() / ORDINARY_SECONDS)
    while best >= seconds:
        began = time.perf_counter()
        await measured()
        best = min(best, time.perf_counter() - began)
        assert best < seconds or time.monotonic() < until, f"the quickest took {best:.3f} s, not {seconds:g} s"


def _own_seconds() -> float:
    found = []
    for _ in range(300):
        began = time.perf_counter()
        sum(number * number for number in range(10_000))
        found.append(time.perf_counter() - began)
    return min(found)
