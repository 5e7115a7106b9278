"""The hash chain: what is hashed, in which order. The database computes the same in `append_events`."""

import hashlib
from datetime import datetime
from uuid import UUID

from mnemon.log.moments import EPOCH_1970, microseconds_since

GENESIS_DOMAIN = b"mnemon/genesis/1\n"
EVENT_DOMAIN = b"mnemon/event/1\n"
DIGEST_LENGTH = 32


def digest(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()


def genesis(tenant: UUID, legal_entity: str) -> bytes:
    """What the first event of a partition links to: a chain cannot be passed off as another partition's."""
    return digest(GENESIS_DOMAIN + f"{tenant}\n{legal_entity}".encode())


def link(previous: bytes, sequence: int, recorded_at: datetime, envelope_digest: bytes, payload_digest: bytes) -> bytes:
    """The hash of an event: its place, its time and its contents, on top of all that came before."""
    place = sequence.to_bytes(8)
    stamp = microseconds_since(EPOCH_1970, recorded_at).to_bytes(8)
    return digest(EVENT_DOMAIN + previous + place + stamp + envelope_digest + payload_digest)


def split(hashes: bytes) -> list[bytes]:
    """Hashes that travelled end to end, one by one."""
    return [hashes[start : start + DIGEST_LENGTH] for start in range(0, len(hashes), DIGEST_LENGTH)]
