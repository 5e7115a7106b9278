"""Key-encryption keys: they wrap the keys of people, and come from files, the environment or AWS KMS."""

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Protocol, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mnemon.errors import BadSettings
from mnemon.keyfile import key_folder, sync_folder, write_once
from mnemon.log.errors import KeyUnavailable, SealBroken
from mnemon.settings import Settings

KEY_LENGTH = 32
NONCE_LENGTH = 12
FINGERPRINT_DOMAIN = b"mnemon/kek/1\n"
FILE_NAME = re.compile(r"privacy-(\d{4})\.key")
HOW_TO_MAKE = "make one with `openssl rand -base64 32`"


class Wrapper(Protocol):
    """One key-encryption key. The context is bound in: a wrapped key is of no use in another row."""

    @property
    def key_id(self) -> str: ...

    async def wrap(self, secret: bytes, context: bytes) -> bytes: ...

    async def unwrap(self, wrapped: bytes, context: bytes) -> bytes: ...


class KeySource(Protocol):
    """A place that key-encryption keys come from."""

    async def current(self) -> Wrapper | None:
        """The one to wrap with; None if it is yet to be made by `renew`."""
        ...

    async def find(self, key_id: str) -> Wrapper | None: ...

    async def renew(self) -> Wrapper:
        """The key to wrap with from now on: a new one where this source makes them itself."""
        ...

    def discard_all_but(self, needed: Collection[str]) -> list[str]:
        """Destroy every key but these for good; none where that is not for this source to do."""
        ...


class LocalKey:
    """A key in memory, known by its fingerprint."""

    def __init__(self, key: bytes) -> None:
        self.key_id = hashlib.sha256(FINGERPRINT_DOMAIN + key).hexdigest()[:16]
        self._cipher = AESGCM(key)

    @classmethod
    def from_base64(cls, text: str, origin: str) -> Self:
        try:
            key = base64.b64decode(text.strip(), validate=True)
        except binascii.Error:
            raise BadSettings(f"{origin} is not base64: {HOW_TO_MAKE}.") from None
        if len(key) != KEY_LENGTH:
            raise BadSettings(f"{origin} holds {len(key)} bytes, not {KEY_LENGTH}: {HOW_TO_MAKE}.")
        return cls(key)

    async def wrap(self, secret: bytes, context: bytes) -> bytes:
        nonce = os.urandom(NONCE_LENGTH)
        return nonce + self._cipher.encrypt(nonce, secret, context)

    async def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        try:
            return self._cipher.decrypt(wrapped[:NONCE_LENGTH], wrapped[NONCE_LENGTH:], context)
        except InvalidTag:
            raise SealBroken("A person's wrapped key was changed, or moved from another row.") from None


class FileKeys:
    """Numbered files in the home folder; the highest is current."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._read: dict[str, LocalKey] = {}

    async def current(self) -> Wrapper | None:
        files = self._files()
        return self._key(files[-1]) if files else None

    async def find(self, key_id: str) -> Wrapper | None:
        return next((key for key in map(self._key, self._files()) if key.key_id == key_id), None)

    async def renew(self) -> Wrapper:
        files = self._files()
        number = int(_number(files[-1])) + 1 if files else 1
        file = key_folder(self._home) / f"privacy-{number:04}.key"
        write_once(file, base64.b64encode(os.urandom(KEY_LENGTH)).decode() + "\n")
        return self._key(file)

    def discard_all_but(self, needed: Collection[str]) -> list[str]:
        """By what lies in the folder: the row of a key that an earlier rotation retired is gone already."""
        gone = [file for file in self._files() if self._key(file).key_id not in needed]
        discarded = [self._key(file).key_id for file in gone]
        for file in [*gone, *self._drafts()]:
            file.unlink(missing_ok=True)
            self._read.pop(file.name, None)
        sync_folder(key_folder(self._home))
        return discarded

    def _drafts(self) -> list[Path]:
        """What a process left that was killed while it wrote a key."""
        return list((self._home / "keys").glob(".privacy-*.key.*"))

    def _files(self) -> list[Path]:
        folder = self._home / "keys"
        return sorted(file for file in folder.glob("privacy-*.key") if FILE_NAME.fullmatch(file.name))

    def _key(self, file: Path) -> LocalKey:
        if file.name not in self._read:
            self._read[file.name] = LocalKey.from_base64(file.read_text(), str(file))
        return self._read[file.name]


def _number(file: Path) -> str:
    matched = FILE_NAME.fullmatch(file.name)
    assert matched is not None
    return matched[1]


class GivenKeys:
    """Keys that the operator hands over; to renew means to hand over another."""

    def __init__(self, given: str | None, previous: Iterable[str] = ()) -> None:
        self._current = LocalKey.from_base64(given, "MNEMON_KEK") if given else None
        earlier = [LocalKey.from_base64(one, "MNEMON_KEK_PREVIOUS") for one in previous]
        self._keys = {key.key_id: key for key in [*earlier, *([self._current] if self._current else [])]}

    async def current(self) -> Wrapper | None:
        return self._current

    async def find(self, key_id: str) -> Wrapper | None:
        return self._keys.get(key_id)

    async def renew(self) -> Wrapper:
        if self._current is None:
            raise BadSettings(f"MNEMON_KEK_SOURCE=env needs MNEMON_KEK: {HOW_TO_MAKE}.")
        return self._current

    def discard_all_but(self, needed: Collection[str]) -> list[str]:
        return []


class KeyRing:
    """The source that is wrapped with, and the others that keys may still be wrapped by."""

    def __init__(self, chosen: KeySource, others: Sequence[KeySource] = ()) -> None:
        self.chosen = chosen
        self._sources = (chosen, *others)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Every source stays readable, so that a change of source is a rotation like any other."""
        given = settings.kek.get_secret_value() if settings.kek else None
        earlier = settings.kek_previous.get_secret_value().split(",") if settings.kek_previous else []
        files, environment = FileKeys(settings.home), GivenKeys(given, [one for one in earlier if one.strip()])
        if settings.kek_source == "env" and given is None:
            raise BadSettings(f"MNEMON_KEK_SOURCE=env needs MNEMON_KEK: {HOW_TO_MAKE}.")
        if settings.kek_source == "kms" and not settings.kek_kms_key:
            raise BadSettings("MNEMON_KEK_SOURCE=kms needs MNEMON_KEK_KMS_KEY: the id, ARN or alias of a KMS key.")
        local: list[KeySource] = [environment, files] if settings.kek_source == "env" else [files, environment]
        if not settings.kek_kms_key:
            return cls(local[0], local[1:])
        from mnemon.log.privacy.kms import KmsKeys

        kms = KmsKeys(settings.kek_kms_key, settings.kek_kms_endpoint)
        return cls(kms, local) if settings.kek_source == "kms" else cls(local[0], [*local[1:], kms])

    async def current(self) -> Wrapper | None:
        return await self.chosen.current()

    async def find(self, key_id: str) -> Wrapper:
        """The key of this id, or an error that says what to look for."""
        for source in self._sources:
            if (found := await source.find(key_id)) is not None:
                return found
        raise KeyUnavailable(
            f"The key-encryption key {key_id} is not at hand: put back the files of `keys` in the home folder, set "
            "MNEMON_KEK or MNEMON_KEK_PREVIOUS, or MNEMON_KEK_KMS_KEY. Without it, what it protects cannot be read.",
            key_id=key_id,
        )

    def discard_all_but(self, needed: Collection[str]) -> list[str]:
        return sorted(key_id for source in self._sources for key_id in source.discard_all_but(needed))
