"""How long tests wait for what has to happen: the slowest machine is in time, and nobody who passes pays."""

import time
from collections.abc import Callable

PATIENCE = 300.0


def until(condition: Callable[[], object], what: str = "it") -> None:
    """Wait for something that another process does. In a coroutine, wait for an event or ask the database instead."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen in {PATIENCE:.0f} s"
        time.sleep(0.02)
