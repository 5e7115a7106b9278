"""The keys of a home that sign checkpoints: in its folder, or numbered and encrypted in the bucket of a shared one."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mnemon.errors import BadSettings
from mnemon.keyfile import KeyFolder, kept
from mnemon.log.proof.handover import Handover, announced, handovers, rotate_signing_key
from mnemon.log.proof.signing import PRIVATE_NAME, new_key, public_hex, read_key, signing_key
from mnemon.shared_home import Home, SharedHome

NUMBERED = re.compile(r"checkpoint-(\d{4})\.(key|handover)")
# How often a key may be taken away by a rotation elsewhere between the listing and the reading.
TRIES = 5


class SigningKeys(Protocol):
    """The key that signs now, and how it came after those before it."""

    def current(self) -> Ed25519PrivateKey:
        """The first call makes it."""
        ...

    def exists(self) -> bool: ...

    def handovers(self) -> tuple[Handover, ...]: ...

    def rotate(self) -> str:
        """Have the present key announce a new one, put that in its place, and return its public half."""
        ...


class FolderSigningKeys:
    """In the folder `keys` of a home."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def current(self) -> Ed25519PrivateKey:
        return signing_key(self._home)

    def exists(self) -> bool:
        return KeyFolder(self._home).read(PRIVATE_NAME) is not None

    def handovers(self) -> tuple[Handover, ...]:
        return handovers(self._home)

    def rotate(self) -> str:
        return rotate_signing_key(self._home)


class SharedSigningKeys:
    """Each key is an object, and so is the word of the one before it; only with that word does it sign.

    All of them are written once and never changed, so that of several gateways one is first and the others see it.
    """

    def __init__(self, home: SharedHome) -> None:
        self._keys = home.keys

    def current(self) -> Ed25519PrivateKey:
        return self._newest()[1]

    def exists(self) -> bool:
        return any(NUMBERED.fullmatch(name) and name.endswith(".key") for name in self._keys.names())

    def handovers(self) -> tuple[Handover, ...]:
        names = sorted(name for name in self._keys.names() if NUMBERED.fullmatch(name) and name.endswith(".handover"))
        return tuple(Handover(**orjson.loads(text)) for text in self._keys.read_all(names))

    def rotate(self) -> str:
        """Killed at any point, nothing is lost: the present key signs until the word is there; the next call goes on.

        Of two at once both get the same next key.
        """
        number, present = self._newest()
        coming = self._made(number + 1)
        self._keys.write_once(_word(number + 1), _written(announced(present, public_hex(coming))))
        # The old key is gone with this, and one that a killed rotation left: nobody can sign with them any more.
        for name in self._keys.names():
            if NUMBERED.fullmatch(name) and name.endswith(".key") and name <= _key(number):
                self._keys.remove(name)
        return public_hex(coming)

    def _newest(self) -> tuple[int, Ed25519PrivateKey]:
        for _ in range(TRIES):
            names = {name for name in self._keys.names() if NUMBERED.fullmatch(name)}
            if not names:
                return 1, self._made(1)
            numbers = {int(name[11:15]) for name in names}
            spoken_for = [one for one in numbers if _key(one) in names and (one == 1 or _word(one) in names)]
            if spoken_for and (text := self._keys.read(_key(max(spoken_for)))) is not None:
                return max(spoken_for), read_key(text, self._keys.where(_key(max(spoken_for))))
        raise BadSettings(
            f"{self._keys.where()} has no checkpoint-NNNN.key any more, with which the log is signed: put back its "
            "copy. If it is lost, remove what is left of `checkpoint-*` there, start again, and take the new key in "
            "with `mnemon log adopt-key`."
        )

    def _made(self, number: int) -> Ed25519PrivateKey:
        """The key of a number; the first gateway to ask makes it."""
        return read_key(kept(self._keys, _key(number), new_key), self._keys.where(_key(number)))


def signing_keys(home: Home) -> SigningKeys:
    return SharedSigningKeys(home) if isinstance(home, SharedHome) else FolderSigningKeys(home)


def as_shared(key: str, before: Sequence[Handover]) -> dict[str, str]:
    """The key of a folder and the words of those before it, as they are named and written in a bucket."""
    words = {_word(number): _written(one) for number, one in enumerate(before, 2)}
    return words | {_key(len(before) + 1): key}


def _written(word: Handover) -> str:
    return orjson.dumps(asdict(word)).decode()


def _key(number: int) -> str:
    return f"checkpoint-{number:04}.key"


def _word(number: int) -> str:
    return f"checkpoint-{number:04}.handover"
