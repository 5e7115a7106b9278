"""Terms: how long personal fields of an event type are kept, and the key that ends with the term.

A personal field of a type with a term is sealed twice: with the key of its person, and with one that all events of the
same class, term and month share. Destroying the first forgets a person, destroying the second what has outlived its
term, whoever it is about; neither needs the other.
"""

from collections.abc import Mapping
from datetime import datetime

from mnemon.errors import BadSettings
from mnemon.log.types.event_type import EventType, is_built_in

# A name that no person has: the log refuses it as one.
PREFIX = "term:"
CLASSES = ("standard", "regulatory", "pii_subject")
LONGEST_YEARS = 1000


def is_term(subject_id: str) -> bool:
    return subject_id.startswith(PREFIX)


class Terms:
    """Years by event type: its own, or those of its class, which the operator may set."""

    def __init__(self, class_years: Mapping[str, int] | None = None) -> None:
        self._class_years = class_years or {}

    def years_of(self, declaration: EventType) -> int | None:
        """None is for good. What Mnemon itself records has no class: its terms are those of documents and people."""
        if declaration.minimum_retention_years is not None:
            return declaration.minimum_retention_years
        return None if is_built_in(declaration) else self._class_years.get(declaration.retention_class)

    def key_of(self, declaration: EventType, at: datetime) -> str | None:
        """The key, besides the person's, that a personal field is sealed with at this moment."""
        years = self.years_of(declaration)
        return None if years is None else f"{PREFIX}{declaration.retention_class}:{years}:{at:%Y-%m}"


def class_years_of(text: str) -> dict[str, int]:
    """`regulatory=10,pii_subject=3` as a setting says it."""
    found = {}
    for one in filter(None, (part.strip() for part in text.split(","))):
        name, _, years = one.partition("=")
        if name not in CLASSES or not years.isdecimal() or int(years) > LONGEST_YEARS:
            raise BadSettings(
                f"MNEMON_RETENTION_CLASS_YEARS has {one!r}: write class=years, as regulatory=10; "
                f"classes are {', '.join(CLASSES)}."
            )
        found[name] = int(years)
    return found
