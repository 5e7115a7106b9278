"""The reading of a structure as it is kept with its revision: JSON that begins with its version."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from mnemon.documents.structure.reading import read_structure
from mnemon.documents.structure.structure import NO_HINTS, Block, Hints, Structure

# Raised when the reading or its form changes: what was stored under another is read again from the text.
VERSION = 10
_OPENING = f'{{"version":{VERSION},'


@dataclass(frozen=True, slots=True)
class _Stored:
    version: int
    structure: Structure


_stored: TypeAdapter[_Stored] = TypeAdapter(_Stored)


def dump_structure(structure: Structure) -> str:
    return _stored.dump_json(_Stored(VERSION, structure), exclude_defaults=True).decode()


def load_structure(stored: str) -> Structure | None:
    """None where nothing was stored, or by another version of the reading."""
    return _stored.validate_json(stored).structure if stored.startswith(_OPENING) else None


def structure_of(text: str, blocks: Sequence[Block], stored: str, hints: Hints = NO_HINTS) -> Structure:
    """As it was stored, where it was read with the same hints; else by the same reading, now."""
    found = load_structure(stored)
    return found if found and found.read_with == hints.digest else read_structure(text, blocks, hints)
