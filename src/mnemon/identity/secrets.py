"""Secrets: made at random, shown once, kept as digests; and the one key that is kept in the home folder."""

import hashlib
import os
import secrets
from pathlib import Path

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
    folder = home / "keys"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / name
    if not file.exists():
        draft = folder / f".{name}.{os.getpid()}.{secrets.token_hex(4)}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as output:
            output.write(secrets.token_urlsafe(48))
            output.flush()
            os.fsync(output.fileno())
        try:
            # A link fails where the file exists: of several processes one wins, and nobody sees half a key.
            os.link(draft, file)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return file.read_text().strip()
