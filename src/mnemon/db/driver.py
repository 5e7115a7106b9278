"""What makes psycopg quicker for us: vectors sent as bytes, and no waits for what has already arrived."""

import select
import struct
from typing import TYPE_CHECKING, TypeVar

from psycopg.abc import PQGen
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.waiting import Ready, Wait

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Result = TypeVar("Result")

REAL, REALS = 700, 1021
# One dimension, no NULL, of type real, so many, the first is number 1.
HEADER = struct.Struct("!iiIii")
# One turn of the event loop costs as much as reading 16 KB, which is what libpq takes at a time. After so many
# in a row the others get their turn.
MOST_IN_A_ROW = 16


class VectorDumper(Dumper):
    """An array of one dimension as `real[]`, which casts to `vector` and `halfvec`.

    To print and read so many numbers as text would cost more than to use them.
    """

    format = Format.BINARY
    oid = REALS

    def dump(self, obj: "NDArray[np.float32]") -> bytes:
        # Not before a vector is there: most commands start without numpy.
        import numpy as np

        if obj.ndim != 1:
            raise ValueError(f"A vector has one dimension, not {obj.ndim}.")
        numbers = np.empty(len(obj), dtype=[("length", ">i4"), ("number", ">f4")])
        numbers["length"] = 4
        numbers["number"] = obj
        return HEADER.pack(1, 0, REAL, len(obj), 1) + numbers.tobytes()


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
