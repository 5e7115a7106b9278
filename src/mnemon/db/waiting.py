"""Waiting for the server: what has already arrived is taken in at once, without a turn of the event loop."""

import select
from typing import TypeVar

from psycopg.abc import PQGen
from psycopg.waiting import Ready, Wait

Result = TypeVar("Result")

# One turn of the event loop costs as much as reading 16 KB, which is what libpq takes at a time. After so many
# in a row the others get their turn.
MOST_IN_A_ROW = 16


def eagerly(steps: PQGen[Result], descriptor: int) -> PQGen[Result]:
    """The same steps of an exchange, less the waits for what is there already."""
    arrived = select.poll()
    arrived.register(descriptor, select.POLLIN)
    in_a_row = 0
    try:
        wanted = next(steps)
        while True:
            if wanted == Wait.R and in_a_row < MOST_IN_A_ROW and arrived.poll(0):
                in_a_row += 1
                wanted = steps.send(Ready.R)
            else:
                in_a_row = 0
                wanted = steps.send((yield wanted))
    except StopIteration as finished:
        result: Result = finished.value
        return result
