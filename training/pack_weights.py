"""Writes the installed weights of the embedder in half precision, small enough to take to a machine with a GPU.

`python training/pack_weights.py OUT` writes OUT/minilm.npz.
"""

import sys
from pathlib import Path

import numpy as np

from mnemon.models.weights import find_weights


def main() -> int:
    weights = find_weights()
    weights.check()
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    kept = {name: value.astype(np.float16) for name, value in weights.tensors().items() if "pooler" not in name}
    np.savez_compressed(folder / "minilm.npz", **kept)
    print(f"{len(kept)} tensors in {folder / 'minilm.npz'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
