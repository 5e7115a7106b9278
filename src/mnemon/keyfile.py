"""Key files: made once, complete before anyone can see them, readable by their owner only."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path


def key_folder(home: Path) -> Path:
    folder = home / "keys"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def kept_text(file: Path, make: Callable[[], str]) -> str:
    """What the file holds; the first process to ask makes it, the others read the same."""
    if not file.exists():
        write_once(file, make())
    return file.read_text().strip()


def write_once(file: Path, text: str) -> bool:
    """Write a file that is not there yet, durably; False where another process was first."""
    draft = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as output:
        output.write(text)
        output.flush()
        os.fsync(output.fileno())
    try:
        # A link fails where the file exists: of several processes one wins, and nobody sees half a key.
        os.link(draft, file)
    except FileExistsError:
        return False
    finally:
        draft.unlink()
    sync_folder(file.parent)
    return True


def sync_folder(folder: Path) -> None:
    """Make the names in a folder as durable as the files."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
