"""Packs an adapter: each row of its matrices as bytes with one scale, half the size of half precision.

`.venv/bin/python training/pack_adapter.py TARGET.npz FILE.npz ...` writes the packed mean of the files, or of TARGET
itself where none is given, and prints its SHA-256. The mean is of models that began alike (`train_readers.py`).
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


def mean_of(files: list[Path]) -> dict[str, np.ndarray]:
    tables = []
    for file in files:
        with np.load(file) as read:
            tables.append({name: read[name] for name in read.files})
    if len(tables) == 1:
        return tables[0]
    return {name: np.mean([table[name].astype(np.float32) for table in tables], axis=0) for name in tables[0]}


def main(file: Path, *others: Path) -> None:
    parts = mean_of(list(others) or [file])
    output = io.BytesIO()
    np.savez(output, **packed(parts))
    file.write_bytes(output.getvalue())
    sys.stdout.write(f"{hashlib.sha256(output.getvalue()).hexdigest()}  {len(output.getvalue()):,} bytes\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
