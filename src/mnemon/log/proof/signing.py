"""The key that signs checkpoints: made once, and kept in the home folder readable by its owner only."""

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
from mnemon.keyfile import KeyFolder, kept, key_folder

PRIVATE_NAME = "checkpoint.key"
PUBLIC_NAME = "checkpoint.pub"


def signing_key(home: Path) -> Ed25519PrivateKey:
    """The key of this home; the first call makes it."""
    key = key_in(home, PRIVATE_NAME)
    (key_folder(home) / PUBLIC_NAME).write_text(public_hex(key) + "\n")
    return key


def key_in(home: Path, name: str) -> Ed25519PrivateKey:
    """The key that a file holds; the first to ask makes it."""
    place = KeyFolder(home)
    return read_key(kept(place, name, new_key), place.where(name))


def read_key(text: str, where: str) -> Ed25519PrivateKey:
    key = load_pem_private_key(text.encode(), None)
    if not isinstance(key, Ed25519PrivateKey):
        raise BadSettings(f"{where} holds no Ed25519 key: move it away to have a new one made.")
    return key


def new_key() -> str:
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def public_hex(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def is_signed(public_key: str, signature: str, statement: str) -> bool:
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), statement.encode())
    except (InvalidSignature, ValueError):
        return False
    return True
