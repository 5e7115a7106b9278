"""Identifiers: ULIDs for facts, UUIDs for tenants and people. They identify; they never order."""

import hashlib
import os
import time
import uuid

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID_LENGTH = 26
_PAIRS = [first + second for first in _CROCKFORD for second in _CROCKFORD]
_LETTER_OF_BYTE = "".join(_CROCKFORD[byte % 32] for byte in range(256)).encode()


def new_uuid() -> uuid.UUID:
    return uuid.uuid4()


def new_time_ordered_uuid() -> uuid.UUID:
    """Version 7: keys made one after the other lie side by side in an index."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10))
    return uuid.UUID(
        int=(milliseconds & (1 << 48) - 1) << 80
        | 0x7 << 76
        | (random >> 68) << 64
        | 0b10 << 62
        | random & (1 << 62) - 1
    )


def new_ulid() -> str:
    return new_ulids(1)[0]


def new_ulids(count: int) -> list[str]:
    """48 bits of milliseconds, the same for all, and 80 random bits each, in Crockford's base 32."""
    milliseconds = time.time_ns() // 1_000_000
    moment = "".join([_PAIRS[milliseconds >> shift & 1023] for shift in (40, 30, 20, 10, 0)])
    letters = os.urandom(16 * count).translate(_LETTER_OF_BYTE).decode()
    return [moment + letters[start : start + 16] for start in range(0, 16 * count, 16)]


def ulid_of(name: str) -> str:
    """The same ULID for the same name, where others brought an id that is none: its moment says nothing."""
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:16])
    return "".join(_CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


def is_ulid(text: str) -> bool:
    """True for the one canonical spelling: 26 upper-case characters that fit 128 bits."""
    return len(text) == _ULID_LENGTH and text[0] <= "7" and all(letter in _CROCKFORD for letter in text)
