"""Secrets: made at random, shown once, kept as digests; and the one key that is kept in the home folder."""

import hashlib
import secrets
from pathlib import Path

from mnemon.keyfile import kept_text, key_folder

TOKEN_PREFIX = "mnm_"  # noqa: S105  a marker that secret scanners can find, not a secret


def new_token_secret() -> str:
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def new_link_secret() -> str:
    return secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """A plain hash is enough here: the secrets have 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(secret.encode()).digest()


def kept_key(home: Path, name: str) -> str:
    """The key in `home/keys/name`; the first process to ask makes it, the others read the same one."""
    return kept_text(key_folder(home) / name, lambda: secrets.token_urlsafe(48))
