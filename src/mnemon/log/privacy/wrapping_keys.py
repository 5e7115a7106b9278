"""Key-encryption keys: they wrap the keys of people, and come from the home, the environment or AWS KMS."""

import asyncio
import base64
import binascii
import hashlib
import os
import re
import time
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mnemon.buckets import BucketUnavailable
from mnemon.errors import BadSettings
from mnemon.log.errors import KeyUnavailable, SealBroken
from mnemon.settings import Settings
from mnemon.shared_home import Home, SharedHome, home_of, key_place

KEY_LENGTH = 32
NONCE_LENGTH = 12
FINGERPRINT_DOMAIN = b"mnemon/kek/1\n"
FILE_NAME = re.compile(r"privacy-(\d{4})\.key")
SURE_SECONDS = 5.0
# For so long a bucket that did not answer is not asked again by who can do without: each try may take seconds.
AWAY_SECONDS = 30.0
HOW_TO_MAKE = "make one with `openssl rand -base64 32`"


class Wrapper(Protocol):
    """One key-encryption key. The context is bound in: a wrapped key is of no use in another row."""

    @property
    def key_id(self) -> str: ...

    async def wrap(self, secret: bytes, context: bytes) -> bytes: ...

    async def unwrap(self, wrapped: bytes, context: bytes) -> bytes: ...


# The keys that each of other databases has noted: see `sharers`.
OfOthers = Collection[Collection[str]]


class KeySource(Protocol):
    """A place that key-encryption keys come from."""

    async def current(self) -> Wrapper | None:
        """The one to wrap with; None if it is yet to be made by `renew`."""
        ...

    async def find(self, key_id: str) -> Wrapper | None: ...

    async def renew(self) -> Wrapper:
        """The key to wrap with from now on: a new one where this source makes them itself."""
        ...

    def discard_all_but(self, needed: Collection[str], of_others: OfOthers = ()) -> list[str]:
        """Destroy every key but these for good, and but those that others may need: the oldest that any of them names,
        and all that are newer. None where that is not for this source to do."""
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


async def wrap_all(wrapper: Wrapper, secrets: Sequence[bytes], contexts: Sequence[bytes]) -> list[bytes]:
    """Side by side where each is a call to another machine. A key at hand waits for nothing, and needs no tasks."""
    pairs = zip(secrets, contexts, strict=True)
    if isinstance(wrapper, LocalKey):
        return [await wrapper.wrap(*pair) for pair in pairs]
    return await asyncio.gather(*(wrapper.wrap(*pair) for pair in pairs))


class FileKeys:
    """Numbered keys of a home, in its folder or shared; the highest is current."""

    def __init__(self, home: Home) -> None:
        self._place = key_place(home)
        self._read: dict[str, LocalKey] = {}
        # A folder is quick to look into each time; a bucket is asked again only after a while.
        self._sure_seconds = SURE_SECONDS if isinstance(home, SharedHome) else 0.0
        self._sure_until = 0.0
        self._away_until = 0.0

    async def current(self) -> Wrapper | None:
        return await asyncio.to_thread(self._current)

    async def find(self, key_id: str) -> Wrapper | None:
        return await asyncio.to_thread(self._find, key_id)

    async def renew(self) -> Wrapper:
        return await asyncio.to_thread(self._renew)

    def discard_all_but(self, needed: Collection[str], of_others: OfOthers = ()) -> list[str]:
        """By what lies there: the row of a key that an earlier rotation retired is gone already."""
        listed = [(name, key.key_id) for name in self._listed() if (key := self._key(name))]
        ids = [key_id for _, key_id in listed]
        spared = min((_oldest(ids, theirs) for theirs in of_others), default=len(ids))
        gone = {name: key_id for name, key_id in listed[:spared] if key_id not in needed}
        for name in gone:
            self._place.remove(name)
            self._read.pop(name, None)
        self._place.clear_drafts("privacy-")
        return list(gone.values())

    def _current(self) -> Wrapper | None:
        names = self._names()
        return self._key(names[-1]) if names else None

    def _find(self, key_id: str) -> Wrapper | None:
        if time.monotonic() < self._sure_until:
            known = next((key for key in self._read.values() if key.key_id == key_id), None)
            if known is not None:
                return known
        found = next((key for key in map(self._key, self._names()) if key and key.key_id == key_id), None)
        self._sure_until = time.monotonic() + self._sure_seconds
        return found

    def _renew(self) -> Wrapper:
        names = self._listed()
        name = f"privacy-{int(names[-1][8:12]) + 1 if names else 1:04}.key"
        self._place.write_once(name, base64.b64encode(os.urandom(KEY_LENGTH)).decode() + "\n")
        made = self._key(name)
        assert made is not None
        return made

    def _names(self) -> list[str]:
        """While a bucket is away, those that were read before: if one is retired meanwhile, the database refuses it."""
        if self._read and time.monotonic() < self._away_until:
            return sorted(self._read)
        try:
            return self._listed()
        except BucketUnavailable:
            if not self._read:
                raise
            self._away_until = time.monotonic() + AWAY_SECONDS
            return sorted(self._read)

    def _listed(self) -> list[str]:
        """What is there now, for who must not overlook any."""
        return sorted(filter(FILE_NAME.fullmatch, self._place.names()))

    def _key(self, name: str) -> LocalKey | None:
        """None if it was discarded since it was listed."""
        if name not in self._read:
            text = self._place.read(name)
            if text is None:
                return None
            self._read[name] = LocalKey.from_base64(text, self._place.where(name))
        return self._read[name]


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

    def discard_all_but(self, needed: Collection[str], of_others: OfOthers = ()) -> list[str]:
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
        files, environment = FileKeys(home_of(settings)), GivenKeys(given, [one for one in earlier if one.strip()])
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
            f"The key-encryption key {key_id} is not at hand: put back the files of `keys` in the home folder, share "
            "the home of the gateway that has it by MNEMON_HOME_STORE, set MNEMON_KEK or MNEMON_KEK_PREVIOUS, or "
            "MNEMON_KEK_KMS_KEY. Without it, what it protects cannot be read.",
            key_id=key_id,
        )

    def discard_all_but(self, needed: Collection[str], of_others: OfOthers = ()) -> list[str]:
        return sorted(key_id for source in self._sources for key_id in source.discard_all_but(needed, of_others))


def _oldest(ids: Sequence[str], theirs: Collection[str]) -> int:
    """Where the oldest of their keys stands; the first of all, where we cannot know which are theirs."""
    return min((ids.index(one) for one in theirs if one in ids), default=0)
