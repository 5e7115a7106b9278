"""Identifiers: ULIDs for facts, UUIDs for tenants and people. They identify; they never order."""

import os
import time
import uuid

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID_LENGTH = 26
_PAIRS = [first + second for first in _CROCKFORD for second in _CROCKFORD]


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
    """48 bits of milliseconds and 80 random bits, in Crockford's base 32."""
    number = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10))
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])


def is_ulid(text: str) -> bool:
    """True for the one canonical spelling: 26 upper-case characters that fit 128 bits."""
    return len(text) == _ULID_LENGTH and text[0] <= "7" and all(letter in _CROCKFORD for letter in text)
