"""What a memory object says about a person: sealed with that person's key, and gone with it.

An object may have a subject, the pseudonym of the person it is about, given when it is created and never changed.
Everything in its events that someone wrote (content, diff, tags, facets, rationale, reasons, outside links) then stands
under `about.sealed`, which the log encrypts. Ids, types, versions and relations to other objects stay readable.
"""

from collections.abc import Mapping
from typing import Any

from mnemon.log.privacy.crypto_seal import REDACTED, SEALED
from mnemon.log.types.event_type import PersonalField

PERSONAL_FIELDS = (PersonalField("about.sealed", "free_text", subject_path="about.subject_id"),)
# An item of another program names whom it is about beside its text; an item about nobody stays plain.
ITEM_FIELDS = tuple(
    PersonalField(path, "free_text", subject_path="subject_id", optional_subject=True)
    for path in ("content", "tags", "reason", "source.uri")
)
WRITTEN = (
    "content", "content_diff", "rationale", "tags", "facet", "facets", "deletion_reason", "source_uri",
    "outside_links", "removed_outside_links", "state", "content_hash", "determinism_hash",
)  # fmt: skip


def enclose(data: Mapping[str, Any], subject_id: str | None) -> dict[str, Any]:
    """The event's data as it is appended: with a subject, what was written about them is set apart to be sealed.

    Digests of it too: whoever can guess a text could test the guess against its digest.
    """
    if subject_id is None:
        return dict(data)
    sealed = {name: data[name] for name in WRITTEN if name in data}
    if not sealed:
        return dict(data)
    plain = {name: value for name, value in data.items() if name not in WRITTEN}
    return plain | {"about": {"subject_id": subject_id, "sealed": sealed}}


def disclose(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data as one flat whole again. What was erased is not in it."""
    about = data.get("about")
    if about is None:
        return dict(data)
    sealed = about["sealed"]
    whole = {name: value for name, value in data.items() if name != "about"}
    whole["subject_id"] = about["subject_id"]
    return {**whole, **sealed} if isinstance(sealed, Mapping) else whole | {"erased": True}


def is_erased(text: str) -> bool:
    return text in (REDACTED, SEALED)
