"""The keys of backups: numbered pairs that encrypt them, and one that signs them; in the home, never in a backup."""

import base64
import hashlib
import re

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from mnemon.errors import BackupFailed, BadSettings
from mnemon.keyfile import kept
from mnemon.shared_home import Home, key_place

PRIVATE = re.compile(r"backup-(\d{4})\.key")
PUBLIC = re.compile(r"backup-(\d{4})\.pub")
SIGNING = "backup-signing.key"
KEY_LENGTH = 32
PURPOSE = b"mnemon/backup/file-key/1"
# The key that it closes is used once, so its nonce need not differ.
ONCE = bytes(12)


class BackupKeys:
    """Writing needs the newest public key alone, so the private ones may be kept elsewhere; restoring needs its own."""

    def __init__(self, home: Home) -> None:
        self._place = key_place(home)

    @property
    def where(self) -> str:
        """For people: where they are kept."""
        return self._place.where()

    def enclose(self, file_key: bytes) -> dict[str, str]:
        """The key of one file for whoever has the private key, and nobody else."""
        recipient = self._recipient()
        once = X25519PrivateKey.generate()
        own = once.public_key().public_bytes_raw()
        shared = _agreed(once.exchange(X25519PublicKey.from_public_bytes(recipient)), own, recipient)
        closed = ChaCha20Poly1305(shared).encrypt(ONCE, file_key, None)
        return {"recipient": recipient.hex(), "once": own.hex(), "file_key": closed.hex()}

    def disclose(self, enclosed: dict[str, str]) -> bytes:
        recipient, own = bytes.fromhex(enclosed["recipient"]), bytes.fromhex(enclosed["once"])
        private = self._private_of(recipient)
        shared = _agreed(private.exchange(X25519PublicKey.from_public_bytes(own)), own, recipient)
        try:
            return ChaCha20Poly1305(shared).decrypt(ONCE, bytes.fromhex(enclosed["file_key"]), None)
        except InvalidTag:
            raise BackupFailed("The backup is damaged: the key in its first lines was changed.") from None

    def sign(self, digest: bytes) -> bytes:
        return self._signing().sign(digest)

    def signer(self) -> str:
        return self._signing().public_key().public_bytes_raw().hex()

    def is_ours(self, signer: str, signature: bytes, digest: bytes) -> bool:
        if self._place.read(SIGNING) is None or signer != self.signer():
            return False
        try:
            Ed25519PublicKey.from_public_bytes(bytes.fromhex(signer)).verify(signature, digest)
        except (InvalidSignature, ValueError):
            return False
        return True

    def renew(self) -> str:
        """Encrypt with a new key from now on; returns its id. Earlier backups stay readable while their keys are."""
        names = [*self._numbered(PRIVATE), *self._numbered(PUBLIC)]
        number = max((int(name[7:11]) for name in names), default=0) + 1
        name = f"backup-{number:04}.key"
        # Of the private half that is there then: if another process was first, its own.
        self._place.write_once(name, _written(X25519PrivateKey.generate().private_bytes_raw()))
        public = self._public_of(name)
        self._place.write_once(name.replace(".key", ".pub"), _written(public))
        return _id(public)

    def discard_older(self) -> list[str]:
        """Destroy every private key but the newest: what was encrypted for them can never be read again."""
        gone = self._numbered(PRIVATE)[:-1]
        ids = []
        for name in gone:
            ids.append(_id(self._public_of(name)))
            self._place.remove(name)
            self._place.remove(name.replace(".key", ".pub"))
        self._place.clear_drafts("backup-")
        return ids

    def _recipient(self) -> bytes:
        if not self._numbered(PUBLIC) and not self._numbered(PRIVATE):
            self.renew()
        # A process that was killed in between has left the private half alone.
        for name in self._numbered(PRIVATE):
            if self._place.read(name.replace(".key", ".pub")) is None:
                self._place.write_once(name.replace(".key", ".pub"), _written(self._public_of(name)))
        newest = self._numbered(PUBLIC)[-1]
        private = newest.replace(".pub", ".key")
        # Where the private half is at hand, it says what can be read again.
        return self._bytes(newest) if self._place.read(private) is None else self._public_of(private)

    def _private_of(self, public: bytes) -> X25519PrivateKey:
        for name in self._numbered(PRIVATE):
            key = self._private(name)
            if key.public_key().public_bytes_raw() == public:
                return key
        raise BackupFailed(
            f"The backup is encrypted for the key {_id(public)}, which is not in {self.where}: put back the copy of "
            "`keys` that was kept apart. Without it, or once it was discarded, the backup cannot be read.",
            key_id=_id(public),
        )

    def _signing(self) -> Ed25519PrivateKey:
        text = kept(self._place, SIGNING, lambda: _written(Ed25519PrivateKey.generate().private_bytes_raw()))
        return Ed25519PrivateKey.from_private_bytes(base64.b64decode(text))

    def _numbered(self, pattern: re.Pattern[str]) -> list[str]:
        return sorted(filter(pattern.fullmatch, self._place.names()))

    def _private(self, name: str) -> X25519PrivateKey:
        return X25519PrivateKey.from_private_bytes(self._bytes(name))

    def _public_of(self, name: str) -> bytes:
        return self._private(name).public_key().public_bytes_raw()

    def _bytes(self, name: str) -> bytes:
        try:
            content = base64.b64decode((self._place.read(name) or "").strip(), validate=True)
        except ValueError:
            content = b""
        if len(content) != KEY_LENGTH:
            raise BadSettings(
                f"{self._place.where(name)} holds no key of {KEY_LENGTH} bytes in base64: put back its copy."
            )
        return content


def _agreed(secret: bytes, once: bytes, recipient: bytes) -> bytes:
    return HKDF(SHA256(), KEY_LENGTH, salt=once + recipient, info=PURPOSE).derive(secret)


def _written(key: bytes) -> str:
    return base64.b64encode(key).decode() + "\n"


def _id(public: bytes) -> str:
    return hashlib.sha256(b"mnemon/backup/key/1\n" + public).hexdigest()[:16]
