"""The key that signs checkpoints: made once, kept in the home folder, readable by its owner only."""

import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from mnemon.errors import BadSettings

PRIVATE_NAME = "checkpoint.key"
PUBLIC_NAME = "checkpoint.pub"


def signing_key(home: Path) -> Ed25519PrivateKey:
    """The key of this home; the first call makes it."""
    folder = home / "keys"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / PRIVATE_NAME
    if not file.exists():
        _make(file)
    key = load_pem_private_key(file.read_bytes(), None)
    if not isinstance(key, Ed25519PrivateKey):
        raise BadSettings(f"{file} holds no Ed25519 key: move it away to have a new one made.")
    (folder / PUBLIC_NAME).write_text(public_hex(key) + "\n")
    return key


def _make(file: Path) -> None:
    """Complete before it is visible, and never over a key that another process made meanwhile."""
    content = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
    try:
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def public_hex(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def is_signed(public_key: str, signature: str, statement: str) -> bool:
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), statement.encode())
    except (InvalidSignature, ValueError):
        return False
    return True
