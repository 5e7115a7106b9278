"""What kind of source a place is, by how it is written."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from mnemon.mail.errors import SourceRefused
from mnemon.mail.storing.packs import KeptArchive

SourceType = Literal["file", "folder", "http", "rsync", "imap"]
SCHEMES: dict[str, SourceType] = {
    "http": "http", "https": "http", "rsync": "rsync", "imap": "imap", "imaps": "imap", "file": "file",
}  # fmt: skip
SourceCursor = dict[str, Any]


@dataclass(frozen=True, slots=True)
class BroughtArchive:
    """An archive whose bytes are kept by now, and what it is called at its source."""

    kept: KeptArchive
    url: str
    continues: str | None = None


@dataclass(slots=True)
class Brought:
    """What a look at a source gave: archives with something new, and the cursor that the next look begins with."""

    cursor: SourceCursor
    archives: list[BroughtArchive] = field(default_factory=list)


def source_type_of(location: str) -> SourceType:
    """A path is a file or a folder of this machine; anything else tells by its scheme."""
    try:
        scheme = urlsplit(location).scheme.lower()
    except ValueError:
        raise SourceRefused(f"{location!r} is no address: use a path, http(s), rsync or imap(s).") from None
    if scheme in SCHEMES and scheme != "file":
        return SCHEMES[scheme]
    if "::" in location and "/" not in location.partition("::")[0]:
        return "rsync"
    if "://" in location and scheme != "file":
        raise SourceRefused(f"{scheme}:// is no source of mail: use a path, http(s), rsync or imap(s).")
    return "folder" if local_path(location).is_dir() else "file"


def local_path(location: str) -> Path:
    try:
        return Path(urlsplit(location).path if location.startswith("file://") else location).expanduser()
    except (ValueError, RuntimeError):
        raise SourceRefused(f"{location!r} can be the name of no file or folder.") from None


def without_password(location: str) -> str:
    """The place as the log may tell it."""
    head, sign, tail = location.partition("://")
    user, at, _ = tail.partition("/")[0].rpartition("@")
    if not (sign and at and ":" in user):
        return location
    return f"{head}://{user.partition(':')[0]}@{tail[len(user) + 1 :]}"
