"""A home that gateways share: what each of them needs of it, in a bucket; keys only encrypted with a secret of theirs.

`Home` is a folder of this machine, or such a bucket. Whoever keeps something in a home takes either.
"""

import base64
import binascii
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mnemon.bucket_versions import remove_earlier, remove_for_good
from mnemon.buckets import BucketAddress, BucketPatience, ObjectBucket, ObjectChanged, ObjectGone
from mnemon.errors import BadSettings
from mnemon.keyfile import KeyFolder, KeyPlace
from mnemon.settings import Settings

STORE, SECRET = "MNEMON_HOME_STORE", "MNEMON_HOME_STORE_SECRET"
PREVIOUS = f"{SECRET}_PREVIOUS"
KEYS = "keys/"
KEY_LENGTH, NONCE_LENGTH = 32, 12
FORMAT = b"mnemon/sealed/1 "
FINGERPRINT_DOMAIN = b"mnemon/home-secret/1\n"
HOW_TO_MAKE = "make one with `openssl rand -base64 32`, and give every gateway the same"
AT_ONCE = 16
# What lies there is small, and events wait for it: a bucket that hangs must not make them wait for minutes.
PATIENCE = BucketPatience(connect_seconds=3, read_seconds=5, tries=2)


class StoreSecret:
    """Closes what is kept in the bucket. The name is bound in: nothing can be passed off as something else.

    What an earlier secret closed is still opened.
    """

    def __init__(self, text: str, previous: str = "") -> None:
        self.fingerprint, cipher = _cipher(text, SECRET)
        self._ciphers = dict(_cipher(one, PREVIOUS) for one in previous.split(",") if one.strip())
        self._ciphers[self.fingerprint] = cipher

    def close(self, text: str, name: str) -> bytes:
        nonce = os.urandom(NONCE_LENGTH)
        return self._head + nonce + self._ciphers[self.fingerprint].encrypt(nonce, text.encode(), name.encode())

    @property
    def _head(self) -> bytes:
        return FORMAT + self.fingerprint.encode() + b"\n"

    def has_closed(self, closed: bytes) -> bool:
        """This one, and none before it."""
        return closed.startswith(self._head)

    def open(self, closed: bytes, name: str, where: str) -> str:
        head, _, rest = closed.partition(b"\n")
        if not head.startswith(FORMAT):
            raise BadSettings(f"{where} is not what Mnemon wrote there: put back its copy.", variable=STORE)
        told = head.removeprefix(FORMAT).decode(errors="replace")
        if told not in self._ciphers:
            raise BadSettings(
                f"{SECRET} is another than the one that {where} was encrypted with (its fingerprint is "
                f"{self.fingerprint}, not {told}): give this gateway the secret of those that share the bucket.",
                variable=SECRET,
            )
        try:
            return self._ciphers[told].decrypt(rest[:NONCE_LENGTH], rest[NONCE_LENGTH:], name.encode()).decode()
        except InvalidTag:
            raise BadSettings(f"{where} was changed, or moved there from another name: put back its copy.") from None


def _cipher(text: str, told_by: str) -> tuple[str, AESGCM]:
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except binascii.Error:
        raise BadSettings(f"{told_by} is not base64: {HOW_TO_MAKE}.", variable=told_by) from None
    if len(key) != KEY_LENGTH:
        raise BadSettings(f"{told_by} holds {len(key)} bytes, not {KEY_LENGTH}: {HOW_TO_MAKE}.", variable=told_by)
    return hashlib.sha256(FINGERPRINT_DOMAIN + key).hexdigest()[:16], AESGCM(key)


class KeyBucket:
    """Encrypted objects, each written once, so what was read once need not be read again."""

    def __init__(
        self, bucket: ObjectBucket, secret: StoreSecret, within: str, before_first: Callable[[], None] | None = None
    ) -> None:
        self._bucket = bucket
        self._secret = secret
        self._within = within
        self._before_first = before_first
        self._read: dict[str, str] = {}

    def names(self) -> list[str]:
        return list(self.names_after(""))

    def names_after(self, name: str) -> Iterator[str]:
        after = self._within + name if name else ""
        for page in self._bucket.pages(self._within, after):
            yield from (one.key.removeprefix(self._within) for one in page)

    def has(self, name: str) -> bool:
        return self._bucket.state(self._within + name) is not None

    def read(self, name: str) -> str | None:
        if name not in self._read:
            try:
                closed = self._bucket.read_whole(self._within + name)
            except ObjectGone:
                return None
            self._read[name] = self._secret.open(closed, self._within + name, self.where(name))
        return self._read[name]

    def read_all(self, names: Iterable[str]) -> Iterator[str]:
        """Several at once, in their order; what is gone is left out."""
        with ThreadPoolExecutor(AT_ONCE) as readers:
            yield from (text for text in readers.map(self.read, names) if text is not None)

    def write_once(self, name: str, text: str) -> bool:
        if self._before_first is not None and self._bucket.first(self._within) is None:
            self._before_first()
        try:
            self._bucket.write_if(self._within + name, self._secret.close(text, self._within + name))
        except ObjectChanged:
            return False
        return True

    def remove(self, name: str) -> None:
        """With all versions: who destroys a key means that nobody has it any more."""
        remove_for_good(self._bucket, self._within + name)
        self._read.pop(name, None)

    def reseal(self) -> int:
        """Close anew what an earlier secret closed, and let go of the earlier versions; how many."""
        changed = 0
        for name in self.names():
            key = self._within + name
            closed, mark = self._bucket.fetch(key)
            if not self._secret.has_closed(closed):
                text = self._secret.open(closed, key, self.where(name))
                self._bucket.write_if(key, self._secret.close(text, key), mark)
                remove_earlier(self._bucket, key)
                changed += 1
        return changed

    def clear_drafts(self, start: str) -> None:
        """An object is there whole, or not at all."""

    def where(self, name: str = "") -> str:
        return f"{self._bucket.address}{self._within}{name}"


@dataclass(frozen=True)
class SharedHome:
    """What gateways share; `folder` is the home of this one's machine, which may be lost."""

    bucket: ObjectBucket
    secret: StoreSecret
    folder: Path

    @cached_property
    def keys(self) -> KeyBucket:
        return KeyBucket(self.bucket, self.secret, KEYS, self.refuse_unshared_keys)

    def sealed(self, within: str) -> KeyBucket:
        """Encrypted objects in another place of the bucket, or there where keys of this home are brought to."""
        return KeyBucket(self.bucket, self.secret, within)

    def refuse_unshared_keys(self) -> None:
        """Before first keys are made: a home that has some of its own would go on without them."""
        if own := KeyFolder(self.folder).names():
            raise BadSettings(
                f"{self.folder / 'keys'} has keys of its own ({own[0]} …) and {self.bucket.address} has none: bring "
                f"them there with `mnemon home share`, or move the folder away to begin anew. {STORE} says where.",
                variable=STORE,
            )


Home = Path | SharedHome


def key_place(home: Home) -> KeyPlace:
    return home.keys if isinstance(home, SharedHome) else KeyFolder(home)


def home_of(settings: Settings) -> Home:
    """The home that the settings name: the folder, or the bucket where they name one."""
    if settings.home_store is None:
        return settings.home
    if settings.home_store_secret is None:
        raise BadSettings(f"{STORE} needs {SECRET}, without which keys would lie plain there: {HOW_TO_MAKE}.",
                          variable=SECRET)  # fmt: skip
    given, earlier = settings.home_store_secret, settings.home_store_secret_previous
    before = earlier.get_secret_value() if earlier else ""
    return _shared(settings.home_store, given.get_secret_value(), before, settings.home)


@lru_cache(maxsize=16)
def _shared(place: str, given: str, before: str, folder: Path) -> SharedHome:
    """One for all parts of a process: a client of S3 is slow to make, and what was read is kept."""
    return SharedHome(
        ObjectBucket(BucketAddress.parse(place, STORE), patience=PATIENCE), StoreSecret(given, before), folder
    )
