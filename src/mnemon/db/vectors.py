"""Vectors on their way to the server: as bytes, since to print and read so many numbers costs more than to use them."""

import struct
from typing import TYPE_CHECKING

from psycopg.adapt import Dumper
from psycopg.pq import Format

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REAL, REALS = 700, 1021
# One dimension, no NULL, of type real, so many, the first is number 1.
HEADER = struct.Struct("!iiIii")


class VectorDumper(Dumper):
    """An array of one dimension as `real[]`, which casts to `vector` and `halfvec`."""

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
