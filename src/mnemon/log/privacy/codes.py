"""Reasons and references: code words and ticket numbers, so that no name slips into a record that stays."""

import re

from mnemon.errors import InvalidRequest

REASON = re.compile(r"[a-z][a-z0-9_]{1,59}")
REFERENCE = re.compile(r"[A-Za-z0-9#/_.:-]{1,100}")


def check_reason(reason: str) -> None:
    if not REASON.fullmatch(reason):
        raise InvalidRequest(
            "The reason is a code word like subject_request, consent_withdrawn or retention_expired, as it stays in "
            "the log for good.",
            reason=reason,
        )


def check_reference(reference: str | None) -> None:
    if reference is not None and not REFERENCE.fullmatch(reference):
        raise InvalidRequest(
            "The reference is the number of a ticket or letter, like DSR-17, with no spaces.", reference=reference
        )
