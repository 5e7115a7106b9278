"""Key files: made once, complete before anyone can see them, readable by their owner only."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from mnemon.errors import BadSettings


class KeyPlace(Protocol):
    """Where keys are kept, each under a name and written once."""

    def names(self) -> list[str]: ...

    def read(self, name: str) -> str | None: ...

    def write_once(self, name: str, text: str) -> bool:
        """Durable when it returns; False where another process was first."""
        ...

    def remove(self, name: str) -> None:
        """Gone when this returns, also if it was not there."""
        ...

    def clear_drafts(self, start: str) -> None:
        """Remove what processes left of names with this start when they were killed while they wrote."""
        ...

    def where(self, name: str = "") -> str:
        """For people: where a key lies, or all of them."""
        ...


class KeyFolder:
    """The folder `keys` of a home."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.folder = home / "keys"

    def names(self) -> list[str]:
        return sorted(file.name for file in self.folder.glob("[!.]*") if file.is_file())

    def read(self, name: str) -> str | None:
        try:
            return (self.folder / name).read_text()
        except FileNotFoundError:
            return None

    def write_once(self, name: str, text: str) -> bool:
        return write_once(key_folder(self._home) / name, text)

    def remove(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)
        sync_folder(self.folder)

    def clear_drafts(self, start: str) -> None:
        for draft in self.folder.glob(f".{start}*"):
            draft.unlink(missing_ok=True)

    def where(self, name: str = "") -> str:
        return str(self.folder / name)


def kept(place: KeyPlace, name: str, make: Callable[[], str]) -> str:
    """What is kept under a name; the first process to ask makes it, the others read the same."""
    found = place.read(name)
    if found is None:
        place.write_once(name, make())
        found = place.read(name)
    if not found or not found.strip():
        # An empty text would be taken for a key, and everybody knows that one.
        raise BadSettings(f"{place.where(name)} is empty or was taken away as it was made: put back its copy.")
    return found.strip()


def key_folder(home: Path) -> Path:
    folder = home / "keys"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


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
