"""The copy of a remote folder that rsync compares with. What was read is hollowed out: no mail is kept twice.

A hollow file has its name, size and time, by which rsync knows what it need not bring again, and zeros for content.
"""

import os
from pathlib import Path

from mnemon.mail.archives.folders import archive_files, kind_of_folder, mail_files
from mnemon.mail.sources.files import is_listed, is_seen
from mnemon.mail.sources.kinds import SourceCursor

LOOK = 64


def hollow_out(folder: Path, cursor: SourceCursor) -> None:
    """Empty what the cursor says was read. What is empty and was not read, by an older cursor, is to come again."""
    if kind_of_folder(folder) == "archives":
        files = {path: is_seen(path, folder, cursor) for path in archive_files(folder)}
    else:
        mails = mail_files(folder)
        files = dict.fromkeys((one.path for one in mails), is_listed(mails, cursor))
    for path, was_read in files.items():
        if was_read == _is_hollow(path):
            continue
        if was_read:
            _hollow(path)
        else:
            path.unlink()


def _is_hollow(path: Path) -> bool:
    with path.open("rb") as file:
        return not file.read(LOOK).strip(b"\0")


def _hollow(path: Path) -> None:
    state = path.stat()
    os.truncate(path, 0)
    os.truncate(path, state.st_size)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
