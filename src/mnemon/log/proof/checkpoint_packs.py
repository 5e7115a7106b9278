"""Packs of checkpoints in a bucket: many in one object, so that a verification need not ask for each.

A pack is a copy that nobody has to believe. The listing tells the MD5 of every object; a line of a pack counts for one
only if it has the same. Whoever changes an object is found as before, whoever changes a pack has it read past.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from mnemon.buckets import ObjectBucket, ObjectGone, StoredObject

PACK = 1_000
FOLDER = "packs/"


class CheckpointPacks:
    """Those of the partitions in one bucket; a pack has `PACK` checkpoints, whole lines, the oldest first."""

    def __init__(self, bucket: ObjectBucket) -> None:
        self._bucket = bucket

    def read(self, partition: str, number: int) -> Mapping[str, bytes]:
        """The lines of a pack by what the listing calls them; none if it is not there."""
        try:
            content = self._bucket.read_whole(_key(partition, number))
        except ObjectGone:
            return {}
        return {_mark(line): line for line in content.splitlines(keepends=True)}

    def write(self, partition: str, number: int, listed: Sequence[StoredObject], lines: Sequence[bytes]) -> None:
        """Unless the store calls objects by something else than their MD5: nothing would be found again."""
        if all(_mark(line) == one.etag for one, line in zip(listed, lines, strict=True)):
            self._bucket.write(_key(partition, number), b"".join(lines))


def in_packs(listed: Sequence[StoredObject], numbers: Iterable[int]) -> dict[int, list[StoredObject]]:
    """What was listed, by the number of the pack that it belongs to."""
    groups: dict[int, list[StoredObject]] = {}
    for one, number in zip(listed, numbers, strict=True):
        groups.setdefault((number - 1) // PACK, []).append(one)
    return groups


def _mark(line: bytes) -> str:
    # What it stands for is signed: this only says which object a line is a copy of.
    return hashlib.md5(line, usedforsecurity=False).hexdigest()


def _key(partition: str, number: int) -> str:
    return f"{partition}{FOLDER}{number:05}.jsonl"
