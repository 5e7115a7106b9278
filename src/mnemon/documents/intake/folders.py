"""Files on this machine: which of a folder are worth taking in, and why the others are not."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mnemon.documents.extraction.kinds import EXTENSIONS, PICTURES
from mnemon.documents.extraction.recognition.tesseract import HOW_TO_GET_IT, is_installed

# Many messages in one file; a single one is .eml.
MAIL_ARCHIVES = frozenset({".mbox", ".mbx", ".mboxrd"})


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that was named or found; `reason` says why it is left out."""

    path: Path
    named: bool
    reason: str | None = None
    # What was asked for: a folder, or the file itself.
    given: Path | None = None

    @property
    def name(self) -> str:
        """Within the folder that was given; a file that was named, as it was."""
        return str(self.path if self.named or self.given is None else self.path.relative_to(self.given))


def find_files(paths: Sequence[Path]) -> Iterator[FoundFile]:
    """The files that were named, and those in the folders that were, in the order of their names; each once."""
    seen: set[Path] = set()
    for path in paths:
        for found in [FoundFile(path, named=True)] if not path.is_dir() else _in_folder(path):
            key = found.path.absolute()
            if key not in seen:
                seen.add(key)
                yield _checked(found)


def _in_folder(folder: Path) -> Iterator[FoundFile]:
    """Hidden files and folders are somebody's own business, and what Office keeps beside an open file is no text; links
    are not followed out of the folder."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith((".", "~$")):
                yield FoundFile(Path(place) / name, named=False, given=folder)


def _checked(found: FoundFile) -> FoundFile:
    path = found.path
    if not path.exists():
        return replace(found, reason="there is no such file")
    if not path.is_file() or (path.is_symlink() and not found.named):
        return replace(found, reason="not a plain file")
    if path.suffix.lower() in MAIL_ARCHIVES:
        return replace(found, reason="an archive of mail; to take it in, `mnemon mail import FILE`")
    if path.suffix.lower() not in EXTENSIONS:
        return replace(found, reason=f"not one of {', '.join(EXTENSIONS)}")
    if EXTENSIONS[path.suffix.lower()] in PICTURES and not found.named and not is_installed():
        return replace(found, reason=f"a picture; to have its text recognised, {HOW_TO_GET_IT} or name the file")
    if not os.access(path, os.R_OK):
        return replace(found, reason="not readable")
    return found
