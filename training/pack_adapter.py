"""Packs an adapter: each row of its matrices as bytes with one scale, half the size of half precision.

`.venv/bin/python training/pack_adapter.py FILE.npz` writes it anew and prints its SHA-256.
"""

import hashlib
import io
import sys
from pathlib import Path

import numpy as np

from mnemon.models.adapters import NARROW, SCALE, WIDE


def packed(parts: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Rows that are packed already stay so, and so does the head, whose numbers decide."""
    made = {}
    for name, value in parts.items():
        if not name.endswith((NARROW, WIDE)) or value.dtype == np.int8:
            made[name] = value
            continue
        rows = value.astype(np.float32)
        scale = np.maximum(np.abs(rows).max(axis=1), 1e-12) / 127
        made[name] = np.rint(rows / scale[:, None]).astype(np.int8)
        made[name + SCALE] = scale.astype(np.float32)
    return made


def main(file: Path) -> None:
    with np.load(file) as read:
        parts = {name: read[name] for name in read.files}
    output = io.BytesIO()
    np.savez(output, **packed(parts))
    file.write_bytes(output.getvalue())
    sys.stdout.write(f"{hashlib.sha256(output.getvalue()).hexdigest()}  {len(output.getvalue()):,} bytes\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
