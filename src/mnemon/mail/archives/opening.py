"""Opens an archive as plain bytes: as it is, or out of gzip, bzip2 or xz. Damage ends the stream and is told."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

# What is unpacked at once is lost as a whole where it is damaged.
MOUTHFUL = 512
MAGIC: dict[bytes, Callable[[Any, str], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}


class _Sips:
    """A file that hands out few bytes at a time."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable, self.close = file.seek, file.tell, file.seekable, file.close

    def read(self, size: int = -1) -> bytes:
        return self._file.read(min(size, MOUTHFUL) if size >= 0 else size)


class ArchiveStream:
    """Reads like a file. What cannot be unpacked any further is where it ends; `damage` then says why."""

    def __init__(self, path: Path) -> None:
        self.damage: str | None = None
        self._bytes = path.open("rb")
        opening = self._bytes.read(8)
        self._bytes.seek(0)
        unpack = next((way for magic, way in MAGIC.items() if opening.startswith(magic)), None)
        self.is_packed = unpack is not None
        self._file = cast(BinaryIO, unpack(_Sips(self._bytes), "rb") if unpack else self._bytes)

    def read(self, size: int) -> bytes:
        """All that can be unpacked, however little that is, before the damage ends it."""
        pieces: list[bytes] = []
        while size > 0 and self.damage is None:
            try:
                piece = self._file.read1(size) if self.is_packed else self._file.read(size)  # type: ignore[attr-defined]
            except (OSError, EOFError, zlib.error, lzma.LZMAError) as failure:
                self.damage = f"The compressed data ends in damage: {failure or type(failure).__name__}"
                break
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._bytes.close()
