"""Vectors as pgvector reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def as_vector(row: NDArray[np.float32]) -> str:
    """The literal of a `vector` or `halfvec`; nine digits give back every bit of a float32."""
    return "[" + ",".join(["%.9g"] * len(row)) % tuple(row.tolist()) + "]"
