"""Redacted payloads: which digests the chain's own events attest in place of the recorded ones."""

import orjson

# By the sequence of the event that lost something: its payload's digest before and after, in the order of the log.
Redacted = dict[int, list[tuple[bytes, bytes]]]


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
