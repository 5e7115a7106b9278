"""Handovers: each signing key names the next one, so that whoever knows one key can trust those that follow."""

import fcntl
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mnemon.keyfile import key_folder, sync_folder
from mnemon.log.moments import now, written
from mnemon.log.proof.signing import PRIVATE_NAME, is_signed, key_in, public_hex, signing_key

FORMAT = "mnemon/key/1"
NEXT_NAME = "checkpoint-next.key"
HANDOVERS_NAME = "checkpoint-keys.jsonl"
LOCK_NAME = "checkpoint.lock"


@dataclass(frozen=True, slots=True)
class Handover:
    """What an outgoing key signed: which key takes its place."""

    statement: str
    public_key: str
    signature: str

    @property
    def next_key(self) -> str:
        return str(orjson.loads(self.statement)["next_key"])

    @property
    def holds(self) -> bool:
        said: dict[str, Any] = orjson.loads(self.statement)
        return said.get("format") == FORMAT and is_signed(self.public_key, self.signature, self.statement)

    def as_json(self) -> dict[str, str]:
        return asdict(self)


def handovers(home: Path) -> tuple[Handover, ...]:
    """Every handover of this home, the oldest first."""
    try:
        lines = (key_folder(home) / HANDOVERS_NAME).read_bytes().splitlines()
    except FileNotFoundError:
        return ()
    return tuple(Handover(**orjson.loads(line)) for line in lines)


def keys_after(key: str, announced: Iterable[Handover]) -> set[str]:
    """The keys that one leads to, itself included."""
    trusted = {key}
    for one in announced:
        if one.public_key in trusted and one.holds:
            trusted.add(one.next_key)
    return trusted


def rotate_signing_key(home: Path) -> str:
    """Have the present key announce a new one, put that in its place, and return its public half.

    Killed at any point, nothing is lost: the present key signs until the very end, and the next call goes on.
    """
    folder = key_folder(home)
    with (folder / LOCK_NAME).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        present = signing_key(home)
        coming = public_hex(key_in(home, NEXT_NAME))
        known = handovers(home)
        if not known or known[-1].next_key != coming:
            _write(folder / HANDOVERS_NAME, (*known, announced(present, coming)))
        # The old key is gone with this: nobody can sign with it any more.
        (folder / NEXT_NAME).replace(folder / PRIVATE_NAME)
        sync_folder(folder)
    signing_key(home)
    return coming


def announced(present: Ed25519PrivateKey, coming: str) -> Handover:
    """The word of the present key for the one that takes its place."""
    says = {"format": FORMAT, "next_key": coming, "signed_at": written(now())}
    statement = orjson.dumps(says, option=orjson.OPT_SORT_KEYS).decode()
    return Handover(statement, public_hex(present), present.sign(statement.encode()).hex())


def _write(file: Path, known: tuple[Handover, ...]) -> None:
    draft = file.with_name(f".{file.name}")
    with draft.open("wb") as output:
        output.writelines(orjson.dumps(one.as_json()) + b"\n" for one in known)
        output.flush()
        os.fsync(output.fileno())
    draft.replace(file)
    sync_folder(file.parent)
