"""`python -m mnemon.models.weights_wheel FOLDER`: the installed weights, packed, as a wheel that pulls nothing else.

The wheel that publishes them depends on torch, which Mnemon does without; `pip install dist/*.whl` takes ours instead.
"""

import base64
import hashlib
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from mnemon.models.packed_weights import write_packed
from mnemon.models.weights import OWN_PACKAGE, PACKED, Weights, find_weights

DISTRIBUTION = "mnemon_minilm"
VERSION = "1.1.0"
# The same files give the same wheel, byte for byte.
MOMENT = (2026, 1, 1, 0, 0, 0)
PIECE = 1 << 20
OPENING = '"""The published files of all-MiniLM-L6-v2, for Mnemon; data alone."""\n'
ABOUT = f"""Metadata-Version: 2.4
Name: mnemon-minilm
Version: {VERSION}
Summary: The published weights of all-MiniLM-L6-v2, for Mnemon
License-Expression: Apache-2.0
Requires-Python: >=3.11
"""
KIND = "Wheel-Version: 1.0\nGenerator: mnemon\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def write_wheel(weights: Weights, folder: Path) -> Path:
    """Refused unless the files are the published ones."""
    weights.check()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{DISTRIBUTION}-{VERSION}-py3-none-any.whl"
    about = f"{DISTRIBUTION}-{VERSION}.dist-info"
    texts = {f"{OWN_PACKAGE}/__init__.py": OPENING, f"{about}/METADATA": ABOUT, f"{about}/WHEEL": KIND}
    with zipfile.ZipFile(wheel, "w") as archive, tempfile.TemporaryFile() as numbers:
        write_packed(weights.tensors(), numbers, MOMENT)
        numbers.seek(0)
        parts = {
            f"{OWN_PACKAGE}/model/{PACKED}": _pieces(numbers),
            f"{OWN_PACKAGE}/model/tokenizer.json": iter([weights.tokenizer.read_bytes()]),
            **{name: iter([text.encode()]) for name, text in texts.items()},
        }
        record = [_add(archive, name, pieces) for name, pieces in parts.items()]
        lines = "\n".join([*record, f"{about}/RECORD,,"]) + "\n"
        _add(archive, f"{about}/RECORD", iter([lines.encode()]))
    return wheel


def _add(archive: zipfile.ZipFile, name: str, pieces: Iterator[bytes]) -> str:
    """A line of the record: the file, its digest and its size."""
    entry = zipfile.ZipInfo(name, MOMENT)
    entry.external_attr = 0o644 << 16
    digest, size = hashlib.sha256(), 0
    with archive.open(entry, "w", force_zip64=True) as output:
        for piece in pieces:
            digest.update(piece)
            size += len(piece)
            output.write(piece)
    told = base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
    return f"{name},sha256={told},{size}"


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    while piece := stream.read(PIECE):
        yield piece


if __name__ == "__main__":
    print(write_wheel(find_weights(), Path(sys.argv[1])))  # noqa: T201  it is a command
