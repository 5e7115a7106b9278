"""Passwords: argon2id, off the event loop, and the same work whether or not the account exists."""

import asyncio
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from mnemon.errors import InvalidRequest

SHORTEST = 10
LONGEST = 1024

_hasher = PasswordHasher()
# Each check takes 64 MiB: a flood of logins waits here instead of filling the memory.
_at_once = asyncio.Semaphore(2)


async def hash_password(password: str) -> str:
    if not _is_text(password):
        raise InvalidRequest("A password is Unicode text; this one holds half of a surrogate pair.")
    if not SHORTEST <= len(password) <= LONGEST:
        raise InvalidRequest(f"A password has {SHORTEST} to {LONGEST} characters, not {len(password)}.")
    async with _at_once:
        return await asyncio.to_thread(_hasher.hash, password)


async def verify_password(password: str, stored: str | None) -> bool:
    """True if the password is right; an account without one takes just as long to refuse."""
    if len(password) > LONGEST or not _is_text(password):
        return False
    async with _at_once:
        right = await asyncio.to_thread(_matches, password, stored)
    return right and stored is not None


def _is_text(password: str) -> bool:
    """JSON can spell half a surrogate pair, which no encoding can hold."""
    return not any(0xD800 <= ord(letter) <= 0xDFFF for letter in password)


def _matches(password: str, stored: str | None) -> bool:
    try:
        return _hasher.verify(stored or _nobodys_hash(), password)
    except (VerificationError, InvalidHashError):
        return False


@cache
def _nobodys_hash() -> str:
    """What an absent account's password is checked against, so that its absence takes as long to find out."""
    return _hasher.hash("nobody")
