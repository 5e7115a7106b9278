"""A folder of this machine as a source; only below folders that a setting opens to the tenant."""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from mnemon.buckets import ObjectGone
from mnemon.documents.intake.origin import CONTROL
from mnemon.documents.sources.errors import PlaceRefused, PlaceUnavailable
from mnemon.documents.sources.places import SeenObject
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.settings import Settings

PAGE = 1_000
BLOCK = 1 << 20
# In bytes; that of a bucket's keys too.
LONGEST_KEY = 1_024
# What a file system keeps at the top of a disk, where nobody but itself may look.
OF_THE_SYSTEM = frozenset({"lost+found/", "$RECYCLE.BIN/", "System Volume Information/"})
# Gone since it was listed, or by now a link or a socket; whatever else is wrong may pass.
NO_FILE_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO})
# A folder on the way needs no right to be listed, where the system can open it so.
ON_THE_WAY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW


class FolderPlace:
    """Plain files, by their path below the folder. Hidden ones, links and what is the system's are left alone.

    Whoever may write in the folder must not make us read what is outside it: each name on the way is opened in the
    folder before it, and none may be a link, so that one put there at the last moment leads nowhere.
    """

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
            with self._opened(below, os.O_RDONLY | os.O_DIRECTORY) as descriptor, os.scandir(descriptor) as found:
                entries = [(one.name + "/" if one.is_dir(follow_symlinks=False) else one.name) for one in found]
        except OSError as failure:
            raise PlaceUnavailable(f"{self._folder / below} cannot be read: {failure.strerror}.") from failure
        for name in sorted(entries, key=os.fsencode):
            key = below + name
            if name.startswith((".", "~$")) or key in OF_THE_SYSTEM or not _can_be_kept(key):
                continue
            if name.endswith("/"):
                is_wanted = key.startswith(self._prefix) or self._prefix.startswith(key)
                if is_wanted and (key.encode() > after.encode() or after.startswith(key)):
                    yield from self._walk(key, after)
            elif key.startswith(self._prefix) and key.encode() > after.encode():
                yield from self._seen(key)

    def _seen(self, key: str) -> Iterator[SeenObject]:
        try:
            state = (self._folder / key).lstat()
        except FileNotFoundError:
            return
        if stat.S_ISREG(state.st_mode):
            modified = datetime.fromtimestamp(state.st_mtime, UTC)
            yield SeenObject(key, f"{state.st_mtime_ns} {state.st_size}", state.st_size, modified)

    def read(self, key: str, write: Callable[[bytes], object]) -> None:
        try:
            with self._opened(key, os.O_RDONLY | os.O_NONBLOCK) as descriptor:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise ObjectGone(f"{self._folder / key} is no plain file.")
                source = os.dup(descriptor)
        except OSError as failure:
            words = f"{self._folder / key} cannot be read: {failure.strerror}."
            raise ObjectGone(words) if failure.errno in NO_FILE_THERE else PlaceUnavailable(words) from None
        with os.fdopen(source, "rb") as file:
            while block := file.read(BLOCK):
                write(block)

    @contextmanager
    def _opened(self, key: str, how: int) -> Iterator[int]:
        """A descriptor of what the key names below the folder, come to without following any link."""
        root, *steps = (self._folder / key).parts
        descriptor = os.open(root, ON_THE_WAY)
        try:
            for number, step in enumerate(steps, 1):
                manner = ON_THE_WAY if number < len(steps) else how | os.O_NOFOLLOW
                inner = os.open(step, manner, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor
        finally:
            os.close(descriptor)

    def address_of(self, key: str) -> str:
        return (self._folder / key).as_uri()


def _can_be_kept(key: str) -> bool:
    """As text in a table, and in its index: a single path that is too long must not fail the look at all the others."""
    return (
        not CONTROL.search(key)
        and not any("\ud800" <= letter <= "\udfff" for letter in key)
        and len(key.encode()) <= LONGEST_KEY
    )


def named_folders(setting: Sequence[str]) -> list[tuple[str, Path]]:
    """Tenants and their folders, from `/srv/docs` and `acme=/srv/acme`."""
    named = [one.partition("=") if "=" in one else (DEFAULT_SLUG, "=", one) for one in setting]
    return [(tenant, Path(folder).expanduser()) for tenant, _, folder in named]


def opened_folders(settings: Settings, slug: str | None) -> list[Path]:
    """Those that the settings open to a tenant; without one, to whoever sits at the machine: all of them."""
    named = named_folders((*settings.source_folders, *settings.watch_folders))
    return [folder for tenant, folder in named if slug in (None, tenant)]


def allowed_folder(place: str, opened: Sequence[Path]) -> Path:
    """The folder itself, links followed, if it is one of those that are opened or below one."""
    try:
        folder = Path(place).expanduser().resolve()
    except (ValueError, RuntimeError, OSError):
        # A null character, the home of nobody, a link to itself.
        raise PlaceRefused(f"{place!r} can be the name of no folder.", folder=place) from None
    if not any(folder.is_relative_to(one.resolve()) for one in opened):
        told = ", ".join(map(str, opened)) or "none"
        raise PlaceRefused(
            f"{place} is below no folder that MNEMON_SOURCE_FOLDERS opens to sources of this tenant; those are: "
            f"{told}.",
            folder=place,
        )
    if not folder.is_dir():
        raise PlaceRefused(f"{folder} is no folder of this machine.", folder=str(folder))
    return folder
