"""Folders of mail: which files are messages, in an order that stays as more of them come."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mnemon.documents.extraction.hygiene import one_line
from mnemon.mail.archives.ranges import ArchiveDefect, ArchivedMessage, ArchiveRange

FolderKind = Literal["maildir", "eml-folder", "archives"]
SINGLE_MAILS = (".eml", ".msg", ".txt")
LARGEST_FILE = 32 << 20
LONGEST_NAME = 500


@dataclass(frozen=True, slots=True)
class MailFile:
    """One message in a file of its own. Its name stays when a Maildir moves it or notes that it was read."""

    name: str
    path: Path
    size: int
    modified: int


def kind_of_folder(folder: Path) -> FolderKind:
    """A Maildir has `cur` and `new`; mails in files of their own end in .eml; anything else is a folder of archives."""
    if (folder / "cur").is_dir() or (folder / "new").is_dir():
        return "maildir"
    if any(folder.glob("*.eml")):
        return "eml-folder"
    return "archives"


def mail_files(folder: Path) -> list[MailFile]:
    """The messages of a Maildir or of a folder of single mails, by name. Links are not followed."""
    if kind_of_folder(folder) == "maildir":
        found = [one for part in ("cur", "new") for one in _files(folder / part)]
    else:
        found = [one for one in _files(folder) if one.suffix.lower() in SINGLE_MAILS]
    return sorted((_described(one, folder) for one in found), key=lambda one: one.name)


def archive_files(folder: Path) -> list[Path]:
    """The archives of a folder and of those within it, by name."""
    return sorted(one for one in folder.rglob("*") if one.is_file() and not one.is_symlink() and one.name[0] != ".")


def read_mail_file(file: MailFile, offset: int) -> ArchiveRange:
    """The whole file as one range that begins at `offset`."""
    if file.size > LARGEST_FILE:
        return ArchiveDefect(
            offset, 0, f"too large: {shown_name(file.name)} has {file.size} bytes, {LARGEST_FILE} at most"
        )
    content = file.path.read_bytes()
    if not content.strip(b"\0 \t\r\n"):
        return ArchiveDefect(offset, len(content), f"blank: {shown_name(file.name)} holds nothing")
    return ArchivedMessage(offset, len(content), content)


def shown_name(name: str) -> str:
    """On one line, whatever bytes the file is called by."""
    return one_line(os.fsencode(name).decode("utf-8", "replace"), LONGEST_NAME) or "a file"


def _files(folder: Path) -> Iterator[Path]:
    return (one for one in folder.iterdir() if one.is_file() and not one.is_symlink()) if folder.is_dir() else iter(())


def _described(path: Path, folder: Path) -> MailFile:
    state = path.stat()
    # A Maildir keeps flags behind a colon.
    return MailFile(path.name.partition(":2,")[0], path, state.st_size, state.st_mtime_ns)
