"""Opens an archive as plain bytes: as it is, or out of gzip, bzip2 or xz. Damage ends the stream and is told."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

MAGIC: dict[bytes, Callable[[Path, str], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}


class ArchiveStream:
    """Reads like a file. What cannot be unpacked any further is where it ends; `damage` then says why."""

    def __init__(self, path: Path) -> None:
        self.damage: str | None = None
        with path.open("rb") as file:
            opening = file.read(8)
        unpack = next((way for magic, way in MAGIC.items() if opening.startswith(magic)), None)
        self.is_packed = unpack is not None
        self._file = cast(BinaryIO, unpack(path, "rb") if unpack else path.open("rb"))

    def read(self, size: int) -> bytes:
        if self.damage is not None:
            return b""
        try:
            return self._file.read(size)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as failure:
            self.damage = f"The compressed data ends in damage: {failure or type(failure).__name__}"
            return b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
