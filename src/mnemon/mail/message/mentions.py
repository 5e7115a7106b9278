"""Drafts and RFCs that a text speaks of."""

import re

from mnemon.mail.message.message import DraftMention

MOST_MENTIONS = 500
DOCUMENT = re.compile(
    r"\b(?P<draft>draft-[a-z][a-z0-9]{0,30}(?:-[a-z0-9]{1,40}){1,12})(?![a-z0-9])"
    r"|\bRFC[ \t]?-?[ \t]?#?(?P<rfc>\d{1,5})\b(?!-)",
    re.IGNORECASE,
)
FILE_ENDS = re.compile(r"-(?:txt|html|xml|pdf)\Z")


def mentions_in(text: str, subject: str = "") -> tuple[DraftMention, ...]:
    """Those of the subject, then those of the text, where they stand."""
    found: list[DraftMention] = []
    if "draft-" in subject.lower() or "rfc" in subject.lower():
        found += [DraftMention(_name(one), -1, -1) for one in DOCUMENT.finditer(subject)]
    low = text.lower()
    if "draft-" in low or "rfc" in low:
        found += [DraftMention(_name(one), one.start(), one.end()) for one in DOCUMENT.finditer(text)]
    return tuple(found[:MOST_MENTIONS])


def _name(found: re.Match[str]) -> str:
    if found["rfc"]:
        return f"rfc{int(found['rfc'])}"
    return FILE_ENDS.sub("", found["draft"].lower())
