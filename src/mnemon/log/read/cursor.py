"""Cursors: where a reader stopped in a stream, in a form that means nothing to anyone else."""

import base64
import binascii
import hashlib

import orjson

from mnemon.log.errors import BadCursor
from mnemon.log.read.streams import Stream


def write_cursor(legal_entity: str, stream: Stream, sequence: int) -> str:
    content = orjson.dumps([1, sequence, _fingerprint(legal_entity, stream)])
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def read_cursor(cursor: str, legal_entity: str, stream: Stream) -> int:
    """The sequence to go on from; a cursor of another stream is refused rather than misread."""
    try:
        version, sequence, fingerprint = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, TypeError):
        raise BadCursor(f"{cursor!r} is not a cursor: pass one back as it was given.") from None
    # A boolean is an integer to Python, but not to PostgreSQL.
    if (
        version != 1
        or type(sequence) is not int
        or not 0 <= sequence < 2**63
        or fingerprint != _fingerprint(legal_entity, stream)
    ):
        raise BadCursor("The cursor belongs to another stream: start that stream without one.")
    return sequence


def _fingerprint(legal_entity: str, stream: Stream) -> str:
    content = orjson.dumps([legal_entity, stream.kind, stream.value, stream.entity_type])
    return hashlib.sha256(content).hexdigest()[:12]
