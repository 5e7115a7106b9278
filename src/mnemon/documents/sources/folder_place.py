"""A folder of this machine as a source; only below folders that a setting opens."""

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from mnemon.buckets import ObjectGone
from mnemon.documents.sources.errors import PlaceRefused, PlaceUnavailable
from mnemon.documents.sources.places import SeenObject

PAGE = 1_000
BLOCK = 1 << 20


class FolderPlace:
    """Plain files, by their path below the folder. Hidden ones and links are left alone."""

    requests = 0

    def __init__(self, folder: Path, prefix: str = "") -> None:
        self._folder = folder
        self._prefix = prefix

    def pages(self, after: str) -> Iterator[list[SeenObject]]:
        if not self._folder.is_dir():
            # Else a disk that is not mounted would look like one whose files are all gone.
            raise PlaceUnavailable(f"The folder {self._folder} is not there, or not readable.")
        page: list[SeenObject] = []
        for one in self._walk("", after):
            page.append(one)
            if len(page) == PAGE:
                yield page
                page = []
        yield page

    def _walk(self, below: str, after: str) -> Iterator[SeenObject]:
        """In the order of the whole path's bytes: a folder stands where its name with a slash would."""
        try:
            with os.scandir(self._folder / below) as found:
                entries = [(one.name + "/" if one.is_dir(follow_symlinks=False) else one.name) for one in found]
        except OSError as failure:
            raise PlaceUnavailable(f"{self._folder / below} cannot be read: {failure.strerror}.") from failure
        for name in sorted(entries, key=os.fsencode):
            key = below + name
            if name.startswith((".", "~$")) or not _is_text(key):
                continue
            if name.endswith("/"):
                is_wanted = key.startswith(self._prefix) or self._prefix.startswith(key)
                if is_wanted and (key.encode() > after.encode() or after.startswith(key)):
                    yield from self._walk(key, after)
            elif key.startswith(self._prefix) and key.encode() > after.encode():
                yield from self._seen(key)

    def _seen(self, key: str) -> Iterator[SeenObject]:
        file = self._folder / key
        try:
            state = file.lstat()
        except FileNotFoundError:
            return
        if file.is_file() and not file.is_symlink():
            modified = datetime.fromtimestamp(state.st_mtime, UTC)
            yield SeenObject(key, f"{state.st_mtime_ns} {state.st_size}", state.st_size, modified)

    def read(self, key: str, write: Callable[[bytes], object]) -> None:
        try:
            # Whoever may write in the folder must not make us read what is outside it.
            descriptor = os.open(self._inside(key), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as failure:
            raise ObjectGone(f"{self._folder / key} cannot be read: {failure.strerror}.") from None
        with os.fdopen(descriptor, "rb") as file:
            while block := file.read(BLOCK):
                write(block)

    def _inside(self, key: str) -> Path:
        file = self._folder / key
        if not file.parent.resolve().is_relative_to(self._folder):
            raise ObjectGone(f"{file} leads out of the folder.")
        return file

    def address_of(self, key: str) -> str:
        return (self._folder / key).as_uri()


def _is_text(name: str) -> bool:
    return name.isprintable() and not any("\ud800" <= letter <= "\udfff" for letter in name)


def allowed_folder(place: str, allowed: Sequence[Path]) -> Path:
    """The folder itself, links followed, if it is one of those that the settings open or below one."""
    folder = Path(place).expanduser().resolve()
    if not any(folder.is_relative_to(one.resolve()) for one in allowed):
        opened = ", ".join(map(str, allowed)) or "none"
        raise PlaceRefused(
            f"{folder} is below no folder that MNEMON_SOURCE_FOLDERS opens to sources; those are: {opened}.",
            folder=str(folder),
        )
    if not folder.is_dir():
        raise PlaceRefused(f"{folder} is no folder of this machine.", folder=str(folder))
    return folder
