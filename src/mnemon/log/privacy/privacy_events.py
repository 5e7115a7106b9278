"""The events of privacy: what the log records about what is taken out of it. They hold ids and codes, never prose."""

import re
from typing import Any

from mnemon.errors import InvalidRequest, NotAllowed
from mnemon.log.types.event_type import EntityRequirement, EventType, declare

ID = {"type": "string", "minLength": 1, "maxLength": 200}
ULID = {"type": "string", "pattern": "^[0-9A-Z]{26}$"}
DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
REASON = {"type": "string", "pattern": "^[a-z][a-z0-9_]{1,59}$"}
REFERENCE = {"type": "string", "pattern": "^[A-Za-z0-9#/_.:-]{1,100}$"}
COUNT = {"type": "integer", "minimum": 0}
POSITION = {"type": "string", "pattern": "^[0-9]+$"}

_ERASURE = {"erasure_id": "01K9ZZZZZZZZZZZZZZZZZZZZZZ", "subject_id": "customer-17"}


def _type(
    name: str,
    subject: str,
    description: str,
    required: dict[str, Any],
    example: dict[str, Any],
    optional: dict[str, Any] | None = None,
) -> EventType:
    return declare(
        EventType(
            type=name,
            description=description,
            data_schema={
                "type": "object",
                "required": list(required),
                "properties": required | (optional or {}),
                "additionalProperties": False,
            },
            required_entities=(EntityRequirement(subject, "subject"),),
            examples=(example,),
            # The right to be forgotten does not wait for the books to open.
            bound_to_periods=False,
        )
    )


ERASURE_REQUESTED = _type(
    "privacy.erasure.requested",
    "person",
    "Someone asked that a person be forgotten.",
    {"erasure_id": ULID, "subject_id": ID, "reason": REASON},
    _ERASURE | {"reason": "subject_request", "reference": "DSR-17"},
    {"reference": REFERENCE},
)
ERASURE_DECLINED = _type(
    "privacy.erasure.declined",
    "person",
    "A request to forget a person was declined or taken back.",
    {"erasure_id": ULID, "subject_id": ID},
    _ERASURE,
)
SUBJECT_ERASED = _type(
    "privacy.subject.erased",
    "person",
    "A person's key was destroyed, on request of the actor and with the approval of another person.",
    {"erasure_id": ULID, "subject_id": ID, "reason": REASON},
    _ERASURE | {"reason": "subject_request"},
)
ERASURE_COMPLETED = _type(
    "privacy.erasure.completed",
    "person",
    "Everything derived from an erased person's data was made anew without it.",
    {"erasure_id": ULID, "subject_id": ID, "events_affected": COUNT, "lenses_rebuilt": {"type": "array"}},
    _ERASURE | {"events_affected": 12, "lenses_rebuilt": ["orders"]},
)
ERASURE_REPEATED = _type(
    "privacy.erasure.repeated",
    "person",
    "A database that was restored to an earlier time had a key that is on the list of destroyed ones: destroyed again.",
    {"subject_id": ID, "generation": COUNT},
    {"subject_id": "customer-17", "generation": 1},
)
SUBJECT_READMITTED = _type(
    "privacy.subject.readmitted",
    "person",
    "A person who was erased may be recorded again, under a new key. What was erased stays erased.",
    {"subject_id": ID, "generation": COUNT, "reason": REASON},
    {"subject_id": "customer-17", "generation": 2, "reason": "new_contract"},
)
_REDACTION = {"redaction_id": "01K9ZZZZZZZZZZZZZZZZZZZZZZ", "event_id": "01K9ZZZZZZZZZZZZZZZZZZZZZZ"}
_FIELDS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
REDACTION_REQUESTED = _type(
    "privacy.redaction.requested",
    "event",
    "Someone asked that values be taken out of a payload that was stored in plain text.",
    {"redaction_id": ULID, "event_id": ULID, "fields": _FIELDS, "reason": REASON},
    _REDACTION | {"fields": ["/data/email"], "reason": "legacy_data"},
    {"subject_id": ID, "reference": REFERENCE},
)
REDACTION_DECLINED = _type(
    "privacy.redaction.declined",
    "event",
    "A request to take values out of a payload was declined or taken back.",
    {"redaction_id": ULID, "event_id": ULID},
    _REDACTION,
)
PAYLOAD_REDACTED = _type(
    "privacy.payload.redacted",
    "event",
    "Values were taken out of a payload that had been stored in plain text; its digest went from old to new.",
    {
        "event_id": ULID,
        "sequence": POSITION,
        "fields": _FIELDS,
        "old_digest": DIGEST,
        "new_digest": DIGEST,
        "reason": REASON,
    },
    {
        "event_id": "01K9ZZZZZZZZZZZZZZZZZZZZZZ",
        "sequence": "17",
        "fields": ["/data/email"],
        "old_digest": "0" * 64,
        "new_digest": "1" * 64,
        "reason": "legacy_data",
    },
    {"subject_id": ID, "reference": REFERENCE},
)

_ARCHIVE = {"first_sequence": POSITION, "last_sequence": POSITION, "object_key": ID, "object_digest": DIGEST}
_ARCHIVED = {"first_sequence": "1", "last_sequence": "1000", "object_key": "t/1/1-1000.gz", "object_digest": "0" * 64}
PAYLOADS_ARCHIVED = _type(
    "log.payloads.archived",
    "archive",
    "The payloads of a range of events were moved to the archive store.",
    _ARCHIVE,
    _ARCHIVED,
)
PAYLOADS_RESTORED = _type(
    "log.payloads.restored",
    "archive",
    "The payloads of a range of events were moved back from the archive store.",
    _ARCHIVE,
    _ARCHIVED,
)

ALL = (
    ERASURE_REQUESTED,
    ERASURE_DECLINED,
    SUBJECT_ERASED,
    ERASURE_COMPLETED,
    ERASURE_REPEATED,
    SUBJECT_READMITTED,
    REDACTION_REQUESTED,
    REDACTION_DECLINED,
    PAYLOAD_REDACTED,
    PAYLOADS_ARCHIVED,
    PAYLOADS_RESTORED,
)


def check_reason(reason: str) -> None:
    """A code word, so that no name slips into a record that stays."""
    if not re.fullmatch(REASON["pattern"], reason):
        raise InvalidRequest(
            "The reason is a code word like subject_request, consent_withdrawn or retention_expired, as it stays in "
            "the log for good.",
            reason=reason,
        )


def check_reference(reference: str | None) -> None:
    if reference is not None and not re.fullmatch(REFERENCE["pattern"], reference):
        raise InvalidRequest(
            "The reference is the number of a ticket or letter, like DSR-17, with no spaces.", reference=reference
        )


def check_second_person(requested_by: str, approved_by: str, what: str) -> None:
    """The one rule of every act that needs two: the person counts, not the credential."""
    if requested_by == approved_by:
        raise NotAllowed(f"{approved_by} asked for this {what} and cannot approve it: a second person must.")
