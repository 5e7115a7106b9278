"""Secrets: made at random, shown once, kept as digests; and the one key that is kept in the home."""

import hashlib
import secrets

from mnemon.keyfile import kept
from mnemon.shared_home import Home, key_place

TOKEN_PREFIX = "mnm_"  # noqa: S105  a marker that secret scanners can find, not a secret


def new_token_secret() -> str:
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def new_link_secret() -> str:
    return secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """A plain hash is enough here: the secrets have 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(secret.encode()).digest()


def kept_key(home: Home, name: str) -> str:
    """The key of this name in the home; the first process to ask makes it, the others read the same one."""
    return kept(key_place(home), name, lambda: secrets.token_urlsafe(48))
