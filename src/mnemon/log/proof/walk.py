"""The walk along a chain: each event's hash is made anew from what is stored, and its envelope compared with copies."""

import struct
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

import orjson

from mnemon.log.moments import EPOCH_1970, EPOCH_2000, EPOCH_DAY_2000, microseconds_since
from mnemon.log.privacy.privacy_events import PAYLOAD_REDACTED
from mnemon.log.proof import chain
from mnemon.log.proof.chain import Redacted, is_attested, note_redaction
from mnemon.log.proof.merkle import Frontier
from mnemon.log.proof.side_tables import SUBJECT, SideRow, attested_rows, sealed_rows

# A log that is wrong throughout would fill the report; the first places are what matters.
MOST_FAULTS = 1_000

# Points in time come as the bytes that PostgreSQL sends, which takes half the time that a datetime does.
COLUMNS = """e.sequence, timestamptz_send(e.recorded_at), e.previous_hash, e.hash, e.payload_digest,
       convert_to(e.envelope, 'UTF8'),
       (SELECT convert_to(p.payload, 'UTF8') FROM mnemon.event_payloads p
         WHERE p.tenant_id = %(tenant)s AND p.partition_id = %(partition)s AND p.sequence = e.sequence),
       e.id, e.type, e.actor_id, e.correlation_id, e.caused_by, timestamptz_send(e.occurred_at),
       date_send(e.effective_date)"""
PAYLOAD = 6
_SINCE_1970 = microseconds_since(EPOCH_1970, EPOCH_2000)
_MOMENT = struct.Struct("!q")
_DAY = struct.Struct("!i")

# An event's row, by COLUMNS.
ChainRow = tuple[Any, ...]
# Sequence, digest as recorded, digest as found.
_Changed = tuple[int, bytes, bytes]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it was recorded, and where."""

    sequence: int
    kind: str
    message: str


class ChainPosition(NamedTuple):
    """Where a verification can be taken up again."""

    sequence: int
    hash: bytes


@dataclass
class Walk:
    """How far a walk has come, and what it found. `attested` are the places whose roots checkpoints tell."""

    tenant_text: str
    legal_entity: str
    position: ChainPosition
    tree: Frontier | None
    attested: Collection[int] = ()
    roots: dict[int, tuple[bytes, bytes | None]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    changed: list[_Changed] = field(default_factory=list)
    redactions: Redacted = field(default_factory=dict)
    unreadable: set[int] = field(default_factory=set)
    # Events whose payload is gone or was changed: nothing tells whose personal fields it held.
    unknown: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        # Beyond the last checkpoint nothing tells what the tree should be.
        self._tree_ends = max(self.attested, default=0)

    def fault(self, sequence: int, kind: str, message: str) -> None:
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(Fault(sequence, kind, message))

    def check(self, rows: Sequence[ChainRow], wanted: set[SideRow]) -> None:
        """Check the next rows, and add to `wanted` the side rows that they call for."""
        before, last = self.position
        for row in rows:
            self._check_link(before, last, row)
            self._check_copies(row, wanted)
            before, last = row[0], row[3]
        self.position = ChainPosition(before, last)
        if rows[0][0] <= self._tree_ends:
            self._grow(rows)

    def check_streams(self, rows: Sequence[ChainRow], beside: Collection[SideRow], wanted: set[SideRow]) -> None:
        """The side tables must say what the envelopes of these rows call for, and no more."""
        if len(beside) == len(wanted) and wanted.issuperset(beside):
            return
        if self.unknown:
            beside = [one for one in beside if one[0] not in self.unknown or not one[1].startswith(SUBJECT)]
        present = {row[0] for row in rows}
        differing = {one[0] for one in wanted.symmetric_difference(beside)} | _repeated(beside)
        for sequence in sorted(differing & present - self.unreadable):
            self.fault(sequence, "stream", f"The streams of event {sequence} differ from its envelope.")
        self.check_strays(one for one in beside if one[0] not in present)

    def check_strays(self, beside: Iterable[SideRow]) -> None:
        for sequence in sorted({one[0] for one in beside}):
            self.fault(sequence, "stream", f"A stream names event {sequence}, which is not there.")

    def check_payloads(self) -> int:
        """A payload that is not the one recorded must be what later events say was left of it; how many are."""
        redacted = 0
        for sequence, recorded, found in self.changed:
            if is_attested(self.redactions, sequence, recorded, found):
                redacted += 1
            else:
                self.fault(sequence, "payload", f"The payload of event {sequence} is not the one that was recorded.")
        return redacted

    def _check_link(self, before: int, last: bytes, row: ChainRow) -> None:
        sequence, recorded_at, previous, own, payload_digest, envelope, payload, _, kind, *_ = row
        if sequence != before + 1:
            which = f"event {before + 1} is" if sequence == before + 2 else f"events {before + 1} to {sequence - 1} are"
            self.fault(before + 1, "missing", f"Before {sequence}, {which} missing.")
        elif previous != last:
            self.fault(sequence, "link", f"Event {sequence} does not link to the event before it.")
        if payload is None:
            self.unknown.add(sequence)
            self.fault(sequence, "missing", f"The payload of event {sequence} is neither here nor in the archive.")
        elif (found := sha256(payload).digest()) != payload_digest:
            self.unknown.add(sequence)
            self.changed.append((sequence, payload_digest, found))
        elif kind == PAYLOAD_REDACTED.type:
            note_redaction(self.redactions, payload)
        stamp = _SINCE_1970 + int.from_bytes(recorded_at, "big", signed=True)
        if chain.link_at(previous, sequence, stamp, sha256(envelope).digest(), payload_digest) != own:
            self.fault(
                sequence, "hash", f"The envelope, place, recorded time or digests of event {sequence} were changed."
            )

    def _check_copies(self, row: ChainRow, wanted: set[SideRow]) -> None:
        """What columns and side tables repeat of the envelope must be what it says."""
        sequence, envelope = row[0], row[5]
        try:
            said = orjson.loads(envelope)
            difference = self._difference(said, *row[7:])
            wanted.update(attested_rows(sequence, said))
            if (payload := row[PAYLOAD]) is not None and sequence not in self.unknown:
                wanted.update(sealed_rows(sequence, payload))
        except (ValueError, KeyError, TypeError, AttributeError, struct.error):
            self.fault(sequence, "columns", f"The envelope of event {sequence} is not one that Mnemon writes.")
            self.unreadable.add(sequence)
            return
        if difference:
            self.fault(sequence, "columns", f"The column {difference} of event {sequence} differs from its envelope.")

    def _difference(
        self, said: dict[str, Any], event_id: str, kind: str, actor_id: str, correlation_id: str,
        caused_by: str | None, occurred_at: bytes, effective_date: bytes,
    ) -> str | None:  # fmt: skip
        """The first column that says something else than the attested text."""
        scope = said["scope"]
        if said["id"] != event_id or said["type"] != kind or said["correlation_id"] != correlation_id:
            return "id, type or correlation_id"
        if said["actor"]["id"] != actor_id or said.get("caused_by") != caused_by:
            return "actor_id or caused_by"
        if scope["tenant_id"] != self.tenant_text or scope["legal_entity"] != self.legal_entity:
            return "partition"
        if _moment_image(said["occurred_at"]) != occurred_at:
            return "occurred_at"
        return "effective_date" if _day_image(said["effective_date"]) != effective_date else None

    def _grow(self, rows: Sequence[ChainRow]) -> None:
        for row in rows:
            sequence, own = row[0], row[3]
            if self.tree is not None:
                self.tree.add(own)
            if sequence in self.attested:
                self.roots[sequence] = own, self.tree.root() if self.tree is not None else None


def _repeated(rows: Iterable[SideRow]) -> set[int]:
    """The events of which a side table has a row twice, which its keys should make impossible."""
    seen: set[SideRow] = set()
    return {row[0] for row in rows if row in seen or seen.add(row)}  # type: ignore[func-returns-value]


@lru_cache(maxsize=1024)
def _moment_image(text: str) -> bytes:
    """A point in time as PostgreSQL sends it. The events of a batch mostly share theirs."""
    return _MOMENT.pack(microseconds_since(EPOCH_2000, datetime.fromisoformat(text)))


@lru_cache(maxsize=1024)
def _day_image(text: str) -> bytes:
    return _DAY.pack(date.fromisoformat(text).toordinal() - EPOCH_DAY_2000)
