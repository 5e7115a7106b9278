"""Checkpoints: signed statements of how far a partition had come, and what can be wrong with them in themselves."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mnemon.log.moments import now, written
from mnemon.log.partitions import Partition
from mnemon.log.proof.handover import Handover, keys_after
from mnemon.log.proof.merkle import Frontier, fold
from mnemon.log.proof.signing import is_signed, public_hex

FORMAT = "mnemon/checkpoint/1"
NO_PREVIOUS = "0" * 64


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A signed statement. `frontier` lets the next one be made without reading the log from its beginning; `keys`
    leads from every earlier signing key to this one."""

    statement: str
    public_key: str
    signature: str
    frontier: tuple[bytes, ...]
    keys: tuple[Handover, ...] = ()

    @property
    def says(self) -> dict[str, Any]:
        decoded: dict[str, Any] = orjson.loads(self.statement)
        return decoded

    @property
    def sequence(self) -> int:
        return int(self.says["sequence"])

    @property
    def head(self) -> bytes:
        return bytes.fromhex(self.says["head"])

    @property
    def root(self) -> bytes:
        return bytes.fromhex(self.says["root"])

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.statement.encode()).hexdigest()

    @property
    def tree(self) -> Frontier:
        return Frontier(self.sequence, list(self.frontier))

    def as_json(self) -> dict[str, Any]:
        shown = {
            "statement": self.statement,
            "public_key": self.public_key,
            "signature": self.signature,
            "frontier": [root.hex() for root in self.frontier],
        }
        return shown | ({"keys": [one.as_json() for one in self.keys]} if self.keys else {})

    @classmethod
    def from_json(cls, line: dict[str, Any]) -> Self:
        frontier = tuple(bytes.fromhex(root) for root in line["frontier"])
        keys = tuple(Handover(**one) for one in line.get("keys", ()))
        return cls(line["statement"], line["public_key"], line["signature"], frontier, keys)


@dataclass(frozen=True, slots=True)
class NewestSigned:
    """The last one that is kept for good, and the seal over what came since. `mark` is by which the store tells
    whether the seal is still this one."""

    kept: Checkpoint | None = None
    seal: Checkpoint | None = None
    mark: str | None = None

    @property
    def furthest(self) -> Checkpoint | None:
        """The one of both that attests more."""
        return self.seal if self.seal and (not self.kept or self.seal.sequence > self.kept.sequence) else self.kept


def read_checkpoint(line: bytes) -> Checkpoint:
    """What was kept; ValueError if it is damaged."""
    try:
        made = Checkpoint.from_json(orjson.loads(line))
        _ = made.sequence, made.head, made.root
    except (LookupError, TypeError, AttributeError) as failure:
        raise ValueError(f"not a checkpoint: {failure}") from failure
    return made


def signed_checkpoint(
    key: Ed25519PrivateKey, tenant: UUID, partition: Partition, tree: Frontier, previous: Checkpoint | None,
    keys: tuple[Handover, ...],
) -> Checkpoint:  # fmt: skip
    """How far the partition has come, in the words of the key. `previous` is the last one that is kept for good."""
    says = {
        "format": FORMAT,
        "tenant_id": str(tenant),
        "legal_entity": partition.legal_entity,
        "sequence": str(partition.sequence),
        "count": str(tree.count),
        "head": partition.hash.hex(),
        "root": tree.root().hex(),
        "previous": previous.digest if previous else NO_PREVIOUS,
        "signed_at": written(now()),
    }
    statement = orjson.dumps(says, option=orjson.OPT_SORT_KEYS).decode()
    return Checkpoint(statement, public_hex(key), key.sign(statement.encode()).hex(), tuple(tree.roots), keys)


def faults_of(known: Sequence[Checkpoint], tenant: UUID, legal_entity: str) -> Iterator[tuple[int, str]]:
    """What is wrong with the checkpoints in themselves, as (sequence, reason)."""
    before: Checkpoint | None = None
    for one in known:
        says = one.says
        if not is_signed(one.public_key, one.signature, one.statement):
            yield one.sequence, "the signature does not fit the statement"
        if before and one.public_key not in keys_after(before.public_key, one.keys):
            yield one.sequence, f"it was signed with another key, {one.public_key}"
        if (says["tenant_id"], says["legal_entity"]) != (str(tenant), legal_entity):
            yield one.sequence, "it is about another partition"
        if says["previous"] != (before.digest if before else NO_PREVIOUS):
            yield one.sequence, "the checkpoint before it is missing or was changed"
        if not _follows(before, one) or says["count"] != says["sequence"]:
            yield one.sequence, "it goes back"
        if len(one.frontier) != one.sequence.bit_count() or fold(one.frontier) != one.root:
            yield one.sequence, "its frontier does not lead to its root"
        before = one


def _follows(before: Checkpoint | None, one: Checkpoint) -> bool:
    """Further on; or at the same place, saying the same, signed with the next key."""
    if before is None or one.sequence != before.sequence:
        return one.sequence > (before.sequence if before else 0)
    return one.public_key != before.public_key and (one.head, one.root) == (before.head, before.root)
