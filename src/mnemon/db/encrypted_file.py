"""A file encrypted piece by piece: written as a stream, read from any place, each piece bound to its place and the end.

After age (https://age-encryption.org/v1): 64 KiB pieces under ChaCha20-Poly1305, the nonce counts them and marks the
last one. A piece that is changed, moved, repeated or missing at the end does not open.
"""

import io
from typing import IO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from mnemon.errors import BackupFailed

PIECE = 1 << 16
TAG = 16
LAST = b"\x01"
NOT_LAST = b"\x00"


class EncryptedWriter:
    """Takes bytes, writes pieces. Nothing is complete until it is closed."""

    def __init__(self, output: IO[bytes], key: bytes, bound_to: bytes = b"") -> None:
        self._output = output
        self._cipher = ChaCha20Poly1305(key)
        self._bound_to = bound_to
        self._waiting = bytearray()
        self._pieces = 0
        self._size = 0

    def write(self, content: bytes) -> int:
        self._waiting += content
        self._size += len(content)
        # One stays behind: only at the end it is known whether it was the last.
        while len(self._waiting) > PIECE:
            self._put(bytes(self._waiting[:PIECE]), NOT_LAST)
            del self._waiting[:PIECE]
        return len(content)

    def tell(self) -> int:
        return self._size

    def close(self) -> None:
        self._put(bytes(self._waiting), LAST)
        self._waiting.clear()

    def _put(self, piece: bytes, mark: bytes) -> None:
        self._output.write(self._cipher.encrypt(_nonce(self._pieces, mark), piece, self._bound_to))
        self._pieces += 1


class EncryptedReader(io.RawIOBase):
    """The bytes again, from `start` to `end` of a file. The last piece is opened first: a file cut short is told so."""

    def __init__(self, source: IO[bytes], key: bytes, bound_to: bytes = b"", start: int = 0, end: int = -1) -> None:
        super().__init__()
        self._source = source
        self._cipher = ChaCha20Poly1305(key)
        self._bound_to = bound_to
        self._start = start
        self._held = (source.seek(0, io.SEEK_END) if end < 0 else end) - start
        self._last = max(0, (self._held - 1) // (PIECE + TAG))
        self._opened: tuple[int, bytes] = (-1, b"")
        self._place = 0
        self._size = self._last * PIECE + len(self._piece(self._last))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = max(0, begin + offset)
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        if self._place >= self._size:
            return 0
        number, offset = divmod(self._place, PIECE)
        found = self._piece(number)[offset : offset + len(buffer)]
        buffer[: len(found)] = found
        self._place += len(found)
        return len(found)

    def _piece(self, number: int) -> bytes:
        if self._opened[0] != number:
            place = number * (PIECE + TAG)
            self._source.seek(self._start + place)
            closed = self._source.read(min(PIECE + TAG, self._held - place))
            mark = LAST if number == self._last else NOT_LAST
            try:
                self._opened = number, self._cipher.decrypt(_nonce(number, mark), closed, self._bound_to)
            except (InvalidTag, ValueError):
                raise BackupFailed(
                    f"The backup is damaged: piece {number + 1} of {self._last + 1} was changed, or what follows it is "
                    "missing."
                ) from None
        return self._opened[1]


def _nonce(number: int, mark: bytes) -> bytes:
    return number.to_bytes(11, "big") + mark
