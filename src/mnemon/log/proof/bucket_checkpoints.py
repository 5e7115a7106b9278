"""Checkpoints in a bucket: an object for each, written once, and one per partition that is its seal.

An object for each, so that none can be written over another; what reads them all reads packs of them.
"""

from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from uuid import UUID

import orjson

from mnemon.buckets import PAGE, ObjectBucket, ObjectChanged, ObjectGone, StoredObject
from mnemon.log.errors import CheckpointRefused
from mnemon.log.events import MAIN
from mnemon.log.proof import checkpoint_packs as packs
from mnemon.log.proof.checkpoint import Checkpoint, NewestSigned, read_checkpoint

FOLDER, KEPT, SEAL, ASIDE = "checkpoints/", "kept/", "seal.json", "set-aside/"
# Names count down, since a listing begins at the first: so the newest is found with one request.
MOST = 99_999_999
AT_ONCE = 16
FEW = 10
# A listing says whether an object is still the one that was read: by so many, about 10 MB, verification reads none.
REMEMBERED = 4_096


class BucketCheckpoints:
    """Several machines may write it: none overwrites what another has signed."""

    def __init__(self, bucket: ObjectBucket) -> None:
        self._bucket = bucket
        self._packs = packs.CheckpointPacks(bucket)
        self._read: OrderedDict[tuple[str, str], bytes] = OrderedDict()

    def list(self, tenant: UUID, legal_entity: str = MAIN) -> list[Checkpoint]:
        """All that are kept for good, the oldest first."""
        listed = [*self._listed(tenant, legal_entity)][::-1]
        groups = packs.in_packs(listed, (_number(one.key) for one in listed))
        return [one for number, group in groups.items() for one in self._group(tenant, legal_entity, number, group)]

    def count(self, tenant: UUID, legal_entity: str = MAIN) -> int:
        return sum(1 for _ in self._listed(tenant, legal_entity))

    def newest(self, tenant: UUID, legal_entity: str = MAIN) -> NewestSigned:
        last = self._last(tenant, legal_entity)
        content = self._content(last) if last else None
        if last and content is None:
            # Not as if there were none: what is signed next goes on from it.
            raise ValueError(f"{last.key} was removed as it was read")
        seal, mark = self._seal(tenant, legal_entity)
        return NewestSigned(read_checkpoint(content) if content is not None else None, seal, mark)

    def seal(self, tenant: UUID, legal_entity: str = MAIN) -> Checkpoint | None:
        return self._seal(tenant, legal_entity)[0]

    def since(self, tenant: UUID, legal_entity: str, number: int) -> tuple[int, Sequence[Checkpoint]]:
        """The number of the last that is kept for good, and those after `number`."""
        new: list[StoredObject] = []
        for one in self._listed(tenant, legal_entity, FEW):
            if _number(one.key) <= number:
                return (_number(new[0].key) if new else _number(one.key)), self._all(new[::-1])
            new.append(one)
        return (_number(new[0].key) if new else 0), self._all(new[::-1])

    def covering(self, tenant: UUID, legal_entity: str, sequence: int) -> Checkpoint | None:
        """The first of the present key that attests this sequence: numbers, sequences and keys only go forward."""
        present, last = self.newest(tenant, legal_entity).furthest, self._last(tenant, legal_entity)
        if present is None or present.sequence < sequence:
            return None
        found = present
        low, high = 1, _number(last.key) if last else 0
        while low <= high:
            middle = (low + high) // 2
            one = self._numbered(tenant, legal_entity, middle)
            if one.sequence >= sequence and one.public_key == present.public_key:
                found, high = one, middle - 1
            else:
                low = middle + 1
        return found

    def add(self, tenant: UUID, legal_entity: str, made: Checkpoint, number: int) -> None:
        """Keep one for good."""
        key, content = _key(tenant, legal_entity, number), _written(made)
        try:
            self._bucket.write_if(key, content)
        except ObjectChanged:
            # Ours, if only the answer to the first try was lost.
            if self._bucket.read_whole(key) != content:
                raise ObjectChanged(
                    f"Another gateway has signed checkpoint {number} of {legal_entity} meanwhile: try again."
                ) from None

    def put_seal(self, tenant: UUID, legal_entity: str, made: Checkpoint, mark: str | None) -> None:
        """In place of the seal that was read, and of no other."""
        self._bucket.write_if(_folder(tenant, legal_entity) + SEAL, _written(made), mark)

    def set_aside(self, tenant: UUID, legal_entity: str, keep: int, seal: bool, name: str) -> None:
        """The newest first: what is left is whole at any moment. Each is copied before it is taken away."""
        folder = _folder(tenant, legal_entity)
        lost = [one.key for one in self._listed(tenant, legal_entity) if _number(one.key) > keep]
        for key in [*([folder + SEAL] if seal else []), *lost]:
            aside = f"{folder}{ASIDE}{name}/{key.removeprefix(folder)}"
            self._bucket.write(aside, self._bucket.read_whole(key))
            self._bucket.remove(key)

    @asynccontextmanager
    async def alone(self, tenant: UUID, legal_entity: str) -> AsyncIterator[None]:
        """Signers take their turn by a lock in the database, which every machine has."""
        yield

    def tenants(self) -> Iterator[UUID]:
        """Whose checkpoints are here."""
        for name in self._bucket.folders(FOLDER):
            with suppress(ValueError):
                yield UUID(name)

    def legal_entities(self, tenant: UUID) -> Iterator[str]:
        for name in self._bucket.folders(f"{FOLDER}{tenant}/"):
            with suppress(ValueError):
                yield bytes.fromhex(name).decode()

    def where(self, tenant: UUID, legal_entity: str) -> str:
        return f"{self._bucket.address}{_folder(tenant, legal_entity)}{KEPT}"

    def _listed(self, tenant: UUID, legal_entity: str, at_a_time: int = PAGE) -> Iterator[StoredObject]:
        """The newest first. What has no number is not ours."""
        for page in self._bucket.pages(_folder(tenant, legal_entity) + KEPT, size=at_a_time):
            yield from (one for one in page if _number(one.key))

    def _last(self, tenant: UUID, legal_entity: str) -> StoredObject | None:
        found = self._bucket.first(_folder(tenant, legal_entity) + KEPT)
        if found is None or _number(found.key):
            return found
        return next(self._listed(tenant, legal_entity), None)

    def _group(
        self, tenant: UUID, legal_entity: str, number: int, listed: Sequence[StoredObject]
    ) -> Sequence[Checkpoint]:
        """Those of one pack. It is made by the first who had to read all of them one by one."""
        folder, whole = _folder(tenant, legal_entity), len(listed) == packs.PACK
        packed = self._packs.read(folder, number) if whole and not self._remembers(listed) else None
        with ThreadPoolExecutor(AT_ONCE) as readers:
            found = [*readers.map(lambda one: (packed or {}).get(one.etag) or self._content(one), listed)]
        lines = [line for line in found if line is not None]
        if packed is not None and len(lines) == len(listed) and any(one.etag not in packed for one in listed):
            self._packs.write(folder, number, listed, lines)
        return [read_checkpoint(line) for line in lines]

    def _remembers(self, listed: Sequence[StoredObject]) -> bool:
        return all((one.key, one.etag) in self._read for one in listed)

    def _all(self, listed: Sequence[StoredObject]) -> Sequence[Checkpoint]:
        with ThreadPoolExecutor(AT_ONCE) as readers:
            found = readers.map(self._content, listed)
            return [read_checkpoint(content) for content in found if content is not None]

    def _content(self, one: StoredObject) -> bytes | None:
        """None if it was removed since it was listed: its absence shows. What is empty is damaged."""
        place = one.key, one.etag
        content = self._read.get(place)
        if content is None:
            try:
                content = self._bucket.read_whole(one.key)
            except ObjectGone:
                return None
            self._read[place] = content
            if len(self._read) > REMEMBERED:
                self._read.popitem(last=False)
        return content

    def _numbered(self, tenant: UUID, legal_entity: str, number: int) -> Checkpoint:
        try:
            return read_checkpoint(self._bucket.read_whole(_key(tenant, legal_entity, number)))
        except (ObjectGone, ValueError):
            raise CheckpointRefused(
                f"Checkpoint {number} of {legal_entity} is missing or damaged in {self._bucket.address}: run verify.",
                legal_entity=legal_entity,
            ) from None

    def _seal(self, tenant: UUID, legal_entity: str) -> tuple[Checkpoint | None, str | None]:
        try:
            content, mark = self._bucket.fetch(_folder(tenant, legal_entity) + SEAL)
        except ObjectGone:
            return None, None
        return read_checkpoint(content), mark


def _folder(tenant: UUID, legal_entity: str) -> str:
    return f"{FOLDER}{tenant}/{legal_entity.encode().hex()}/"


def _key(tenant: UUID, legal_entity: str, number: int) -> str:
    return f"{_folder(tenant, legal_entity)}{KEPT}{MOST - number:08}-{number}.json"


def _number(key: str) -> int:
    """0 for a name that is none of ours."""
    name = key.rpartition("/")[2].removesuffix(".json")
    countdown, _, number = name.partition("-")
    ours = number.isdigit() and countdown == f"{MOST - int(number):08}"
    return int(number) if ours else 0


def _written(made: Checkpoint) -> bytes:
    return orjson.dumps(made.as_json()) + b"\n"
