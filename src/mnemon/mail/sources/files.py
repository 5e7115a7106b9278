"""Archives in files and folders of this machine: what is unchanged is not read, what has grown is read from its end."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from mnemon.mail.archives.folders import MailFile, archive_files, kind_of_folder, mail_files, shown_name
from mnemon.mail.archives.opening import ArchiveStream
from mnemon.mail.errors import SourceRefused
from mnemon.mail.sources.kinds import Brought, BroughtArchive, SourceCursor
from mnemon.mail.storing.packs import Packs, ranges_of_files

BLOCK = 1 << 20


def look_at_file(packs: Packs, tenant: UUID, path: Path, cursor: SourceCursor, url: str) -> Brought:
    """The file as one archive, or what was added to it since the last look."""
    if not path.is_file():
        raise SourceRefused(f"There is no file {path}.", path=str(path))
    seen = _seen(path)
    if cursor.get("seen") == seen:
        return Brought(cursor)
    start = grown_from(path, cursor)
    kept = packs.keep_file(tenant, path, start)
    if start and kept.kept == 0:
        return Brought(cursor | {"seen": seen})
    now = {"seen": seen, "size": path.stat().st_size, "prefix": kept.file_hash, "archive": kept.archive_id}
    return Brought(now, [BroughtArchive(kept, url, cursor.get("archive") if start else None)])


def look_at_folder(packs: Packs, tenant: UUID, folder: Path, cursor: SourceCursor, url: str) -> Brought:
    """A Maildir or single mails: those that are new. Any other folder: each archive in it."""
    if not folder.is_dir():
        raise SourceRefused(f"There is no folder {folder}.", path=str(folder))
    kind = kind_of_folder(folder)
    if kind == "archives":
        return _look_at_archives(packs, tenant, folder, cursor, url)
    files = mail_files(folder)
    if is_listed(files, cursor):
        return Brought(cursor)
    known = set(cursor.get("names", ()))
    # A mail in a Maildir never changes; any other file may have been looked at while it was still being written.
    sizes = {} if kind == "maildir" else cursor.get("sizes", {})
    named = {_name(one.name): one for one in files}
    new = [one for name, one in named.items() if name not in known or sizes.get(name, one.size) != one.size]
    kept = packs.keep_mails(tenant, ranges_of_files(new), kind)
    now: SourceCursor = {"listed": _listed(files), "names": sorted(named)}
    if kind != "maildir":
        now["sizes"] = {name: one.size for name, one in sorted(named.items())}
    return Brought(now, [BroughtArchive(kept, url)] if kept else [])


def is_listed(files: Sequence[MailFile], cursor: SourceCursor) -> bool:
    """Whether the last look found just these mails."""
    return cursor.get("listed") == _listed(files)


def _listed(files: Sequence[MailFile]) -> str:
    told = "\n".join(f"{one.name} {one.size} {one.modified}" for one in files)
    return hashlib.sha256(os.fsencode(told)).hexdigest()


def is_seen(path: Path, folder: Path, cursor: SourceCursor) -> bool:
    """Whether the last look found this archive of the folder as it is."""
    known = cursor.get("files", {}).get(_path_name(str(path.relative_to(folder))), {})
    return bool(known.get("seen") == _seen(path))


def _look_at_archives(packs: Packs, tenant: UUID, folder: Path, cursor: SourceCursor, url: str) -> Brought:
    found = Brought({"files": dict(cursor.get("files", {}))})
    for path in archive_files(folder):
        name = _path_name(str(path.relative_to(folder)))
        part = look_at_file(packs, tenant, path, found.cursor["files"].get(name, {}), f"{url.rstrip('/')}/{name}")
        found.cursor["files"][name] = part.cursor
        found.archives += part.archives
    return found


def grown_from(path: Path, cursor: SourceCursor) -> int:
    """Where to go on, if the file begins with all that it held at the last look and another message follows."""
    size: Any = cursor.get("size")
    if not size or path.stat().st_size < size:
        return 0
    with ArchiveStream(path) as stream:
        if stream.is_packed:
            return 0
    if _hash(path, size) != cursor.get("prefix"):
        return 0
    with path.open("rb") as file:
        file.seek(size)
        following = file.read(6).lstrip(b"\r\n")
    return int(size) if not following or following.startswith(b"From") else 0


def _seen(path: Path) -> list[int]:
    state = path.stat()
    return [state.st_size, state.st_mtime_ns, state.st_ino]


def _hash(path: Path, size: int | None = None) -> str:
    digest, left = hashlib.sha256(), path.stat().st_size if size is None else size
    with path.open("rb") as file:
        while left and (block := file.read(min(BLOCK, left))):
            digest.update(block)
            left -= len(block)
    return digest.hexdigest()


def _path_name(path: str) -> str:
    """The path as it can be written down; of a name in another encoding, what is left of it and what tells it apart."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return f"{shown_name(path)} ({_name(path)})"
    return path


def _name(name: str) -> str:
    """Short, and telling nothing of whose mail it is."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:12]
