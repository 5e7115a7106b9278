"""Archived objects: the payloads of a range of events as compressed lines, and the way back to them."""

import gzip
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import orjson

from mnemon.db.database import Database
from mnemon.log.errors import ArchiveDamaged
from mnemon.log.events import Event
from mnemon.log.privacy.archive_store import ArchiveStore
from mnemon.log.proof.chain import digest
from mnemon.telemetry import logger

# Objects kept open: a replay reads them in order, so the last few are enough.
MOST_OPEN = 8

COVERING = """
SELECT wanted.sequence, p.payload, a.object_key, a.object_digest,
       mnemon.attested_digest(%(tenant)s, %(partition)s, wanted.sequence) AS digest
  FROM unnest(%(sequences)s::bigint[]) AS wanted (sequence)
  JOIN mnemon.event_payloads p ON p.tenant_id = %(tenant)s AND p.partition_id = %(partition)s
                              AND p.sequence = wanted.sequence
  LEFT JOIN LATERAL (
       SELECT * FROM mnemon.archives a
        WHERE a.tenant_id = %(tenant)s AND a.partition_id = %(partition)s AND a.first_sequence <= wanted.sequence
        ORDER BY a.first_sequence DESC LIMIT 1) AS a ON a.last_sequence >= wanted.sequence AND a.state = 'stored'
"""


@dataclass(frozen=True, slots=True)
class ArchiveObject:
    """An object ready to be stored. Its name follows from its content, so to write it twice changes nothing."""

    first: int
    last: int
    content: bytes
    digest: bytes
    key: str
    payload_bytes: int


def pack(tenant: UUID, partition_id: int, payloads: Sequence[tuple[int, str]]) -> ArchiveObject:
    """Consecutive payloads as lines that `zcat` shows."""
    lines = b"".join(orjson.dumps({"sequence": str(n), "payload": text}) + b"\n" for n, text in payloads)
    content = gzip.compress(lines, compresslevel=6, mtime=0)
    own, first, last = digest(content), payloads[0][0], payloads[-1][0]
    key = f"{tenant}/{partition_id}/{first:012}-{last:012}-{own.hex()[:16]}.jsonl.gz"
    return ArchiveObject(first, last, content, own, key, sum(len(text.encode()) for _, text in payloads))


def unpack(key: str, content: bytes, expected: bytes) -> dict[int, str]:
    """The payloads in an object, if it is the one that was stored."""
    if digest(content) != expected:
        raise ArchiveDamaged(f"The archived object {key} is not the one that was stored.", object_key=key)
    lines = map(orjson.loads, gzip.decompress(content).splitlines())
    return {int(line["sequence"]): line["payload"] for line in lines}


LOST = "its payload was archived, and the archive has lost it: `mnemon log verify` names what is missing"

log = logger(__name__)


class ArchivedPayloads:
    """Reads through to the archive: to readers, archived payloads are where they always were."""

    def __init__(self, database: Database, store: ArchiveStore) -> None:
        self._database = database
        self._store = store
        self._open: OrderedDict[str, dict[int, str]] = OrderedDict()

    async def fill(self, tenant: UUID, events: Sequence[Event], *, tolerant: bool = False) -> Sequence[Event]:
        """The events with their payloads' text, each checked against its digest. What is lost is an error, or for a
        `tolerant` reader the payload of that event alone: replay must not go on as if nothing had been there."""
        wanted: dict[int, list[int]] = {}
        for event in events:
            if event.payload_text is None:
                wanted.setdefault(event.partition_id, []).append(event.sequence)
        found = {
            partition: await self.texts(tenant, partition, places, tolerant=tolerant)
            for partition, places in wanted.items()
        }
        return [_filled(event, found) if event.payload_text is None else event for event in events]

    async def texts(
        self, tenant: UUID, partition_id: int, sequences: Iterable[int], *, tolerant: bool = False
    ) -> dict[int, str]:
        """Payloads by sequence, from the archive, or from the database if they came back meanwhile."""
        texts: dict[int, str] = {}
        for row in await self._places(tenant, partition_id, sequences):
            try:
                texts[row["sequence"]] = await self._text(row, partition_id)
            except ArchiveDamaged as failure:
                if not tolerant:
                    raise
                log.error("archive.payload_lost", sequence=row["sequence"], error=failure.message)
        return texts

    async def _text(self, row: Mapping[str, Any], partition_id: int) -> str:
        text: str | None = row["payload"] if row["payload"] is not None else await self._archived(row)
        if text is None or digest(text.encode()) != row["digest"]:
            raise ArchiveDamaged(
                f"The payload of event {row['sequence']} in partition {partition_id} is "
                f"{'nowhere' if text is None else 'not the one that was recorded'}: verify the log.",
                sequence=str(row["sequence"]),
                object_key=row["object_key"],
            )
        return text

    async def readable(self, tenant: UUID, partition_id: int, sequences: Iterable[int]) -> dict[int, str]:
        """The same for a verifier, who judges for himself: what is missing or damaged is left out."""
        texts: dict[int, str] = {}
        for row in await self._places(tenant, partition_id, sequences):
            with suppress(ArchiveDamaged):
                text = row["payload"] if row["payload"] is not None else await self._archived(row)
                if text is not None:
                    texts[row["sequence"]] = text
        return texts

    async def _places(self, tenant: UUID, partition_id: int, sequences: Iterable[int]) -> list[dict[str, Any]]:
        values = {"tenant": tenant, "partition": partition_id, "sequences": list(sequences)}
        async with self._database.transaction(tenant) as connection:
            return await (await connection.execute(COVERING, values)).fetchall()

    async def _archived(self, row: Mapping[str, Any]) -> str | None:
        if row["object_key"] is None:
            return None
        payloads = await self._opened(row["object_key"], row["object_digest"])
        return payloads.get(row["sequence"])

    async def _opened(self, key: str, expected: bytes) -> dict[int, str]:
        if key not in self._open:
            self._open[key] = unpack(key, await self._store.get(key), expected)
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
        self._open.move_to_end(key)
        return self._open[key]


def _filled(event: Event, found: Mapping[int, Mapping[int, str]]) -> Event:
    text = found[event.partition_id].get(event.sequence)
    if text is not None:
        return replace(event, payload_text=text)
    lost = replace(event, lift=None)
    lost.__dict__["payload"] = {"data": {"unavailable": LOST}}
    return lost
