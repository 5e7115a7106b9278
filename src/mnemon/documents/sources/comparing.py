"""What a source has compared with what is known of it: which files are new, changed, gone, back, or as they were."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from mnemon.documents.sources.known_objects import KnownObject
from mnemon.documents.sources.places import SeenObject

SourceDifference = Literal["new", "changed", "unchanged", "gone", "unwanted", "back"]


@dataclass(frozen=True, slots=True)
class SourceChange:
    """One file, and how it differs."""

    what: SourceDifference
    seen: SeenObject | None = None
    known: KnownObject | None = None


def difference(seen: SeenObject, known: KnownObject | None) -> SourceChange:
    if known is None:
        return SourceChange("new", seen)
    if known.status == "deleted":
        # The same bytes need not be fetched again.
        same = known.mark == seen.mark and known.doc_id is not None and known.content_hash is not None
        return SourceChange("back" if same else "changed", seen, known)
    if known.mark != seen.mark or known.status == "failed":
        return SourceChange("changed", seen, known)
    return SourceChange("unchanged", seen, known)


def compare(
    seen: dict[str, SeenObject], known: Sequence[KnownObject], unwanted: Collection[str] = ()
) -> list[SourceChange]:
    """The known ones against what was seen; those are taken out of `seen`, and what is left there is new. What is there
    and `unwanted` is not gone: another source may have it."""
    found: list[SourceChange] = []
    for one in known:
        there = seen.pop(one.object_key, None)
        if there is not None:
            found.append(difference(there, one))
        elif one.status != "deleted":
            found.append(SourceChange("unwanted" if one.object_key in unwanted else "gone", known=one))
    return found
