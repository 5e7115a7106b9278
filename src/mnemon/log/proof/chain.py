"""The hash chain: what is hashed, in which order. The database computes the same in `append_events`."""

import hashlib
import struct
from datetime import datetime
from uuid import UUID

import orjson

from mnemon.log.moments import EPOCH_1970, microseconds_since

GENESIS_DOMAIN = b"mnemon/genesis/1\n"
EVENT_DOMAIN = b"mnemon/event/1\n"
DIGEST_LENGTH = 32
_PLACE = struct.Struct("!qq")

# By the sequence of the event that lost something: its payload's digest before and after, in the order of the log.
Redacted = dict[int, list[tuple[bytes, bytes]]]


def digest(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()


def genesis(tenant: UUID, legal_entity: str) -> bytes:
    """What the first event of a partition links to: a chain cannot be passed off as another partition's."""
    return digest(GENESIS_DOMAIN + f"{tenant}\n{legal_entity}".encode())


def link(previous: bytes, sequence: int, recorded_at: datetime, envelope_digest: bytes, payload_digest: bytes) -> bytes:
    """The hash of an event: its place, its time and its contents, on top of all that came before."""
    return link_at(previous, sequence, microseconds_since(EPOCH_1970, recorded_at), envelope_digest, payload_digest)


def link_at(previous: bytes, sequence: int, stamp: int, envelope_digest: bytes, payload_digest: bytes) -> bytes:
    """The same, with the time in microseconds since 1970."""
    place = _PLACE.pack(sequence, stamp)
    return hashlib.sha256(EVENT_DOMAIN + previous + place + envelope_digest + payload_digest).digest()


def split(hashes: bytes) -> list[bytes]:
    """Hashes that travelled end to end, one by one."""
    return [hashes[start : start + DIGEST_LENGTH] for start in range(0, len(hashes), DIGEST_LENGTH)]


def note_redaction(found: Redacted, payload: bytes) -> None:
    """Take in what the payload of a `privacy.payload.redacted` event says."""
    said = orjson.loads(payload)["data"]
    change = bytes.fromhex(said["old_digest"]), bytes.fromhex(said["new_digest"])
    found.setdefault(int(said["sequence"]), []).append(change)


def is_attested(found: Redacted, sequence: int, recorded: bytes, present: bytes) -> bool:
    """Whether redactions lead, each from where the one before left off, from the recorded digest to the present."""
    digest = recorded
    for old, new in found.get(sequence, ()):
        if old == digest:
            digest = new
    return digest == present != recorded
