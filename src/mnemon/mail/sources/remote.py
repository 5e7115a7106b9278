"""Archives on other machines: over HTTP(S) and by rsync. Each brings only what is new there."""

import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO, cast
from urllib.parse import quote, urlsplit
from uuid import UUID

from mnemon.mail.errors import SourceRefused, SourceUnreachable
from mnemon.mail.sources.files import grown_from, look_at_folder
from mnemon.mail.sources.kinds import Brought, BroughtArchive, SourceCursor
from mnemon.mail.sources.mirror import hollow_out
from mnemon.mail.sources.reach import SameHost
from mnemon.mail.storing.packs import Packs

SECONDS = 60
BLOCK = 1 << 20
# A server may not fill the disk: what is larger is refused.
LARGEST_DOWNLOAD = 8 << 30
# What stands in an address for itself; anything else is written as %XX, as browsers do.
IN_ADDRESSES = "%/:=&?~#+!$,;'@()*[]"


def look_at_web(packs: Packs, tenant: UUID, url: str, cursor: SourceCursor, folder: Path) -> Brought:
    """The archive behind an address, or what was added to it; nothing if the server says that it is the one read."""
    request = urllib.request.Request(_as_sent(url), headers={"User-Agent": "mnemon"})  # noqa: S310  http(s) alone
    if cursor.get("etag"):
        request.add_header("If-None-Match", cursor["etag"])
    if cursor.get("modified"):
        request.add_header("If-Modified-Since", cursor["modified"])
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in folder.iterdir():
        # A look that was killed could not remove it.
        left.unlink(missing_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        try:
            with urllib.request.build_opener(SameHost).open(request, timeout=SECONDS) as answer:
                told = {"etag": answer.headers.get("ETag"), "modified": answer.headers.get("Last-Modified")}
                _download(url, cast(HTTPResponse, answer), file)
        except urllib.error.HTTPError as refusal:
            if refusal.code == 304:
                return Brought(cursor)
            raise _refused(url, refusal.code) from None
        except (OSError, HTTPException) as failure:
            raise SourceUnreachable(f"{url} did not answer: {failure or type(failure).__name__}") from None
        path = Path(file.name)
        start = grown_from(path, cursor)
        kept = packs.keep_file(tenant, path, start)
    now = told | {"archive": kept.archive_id, "size": kept.size, "prefix": kept.file_hash}
    if kept.archive_id == cursor.get("archive") or (start and not kept.kept):
        return Brought(now)
    return Brought(now, [BroughtArchive(kept, url, cursor.get("archive") if start else None)])


def _as_sent(url: str) -> str:
    try:
        place = urlsplit(url)
        _ = place.port
        host = (place.hostname or "").encode("idna").decode()
    except ValueError:
        raise SourceRefused(f"{url!r} is no address.") from None
    if not host:
        raise SourceRefused(f"{url!r} names no host.")
    netloc = place.netloc if place.netloc.isascii() else f"{host}:{place.port}" if place.port else host
    return quote(place._replace(netloc=netloc).geturl(), safe=IN_ADDRESSES)


def _download(url: str, answer: HTTPResponse, file: IO[bytes]) -> None:
    """All that was announced: a connection that ends too early looks like the end of the file."""
    size, announced = 0, answer.length
    while block := answer.read(BLOCK):
        size += len(block)
        if size > LARGEST_DOWNLOAD:
            raise SourceRefused(f"{url} is larger than {LARGEST_DOWNLOAD >> 30} GB.")
        file.write(block)
    if announced is not None and size < announced:
        raise SourceUnreachable(f"{url} broke off after {size} of {announced} bytes.")
    file.flush()


def _refused(url: str, status: int) -> Exception:
    words = f"{url} answered {status}"
    return SourceUnreachable(words) if status >= 500 or status in (408, 429) else SourceRefused(words)


def look_by_rsync(packs: Packs, tenant: UUID, location: str, cursor: SourceCursor, folder: Path) -> Brought:
    """A copy of the remote folder is kept beside, so that only changed files travel; they are read like any others."""
    program = shutil.which("rsync")
    if program is None:
        raise SourceRefused("rsync is not installed on this machine: install it, or use another kind of source.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    hollow_out(folder, cursor)
    command = [program, "-rt", "--timeout=60", "--contimeout=30", "--no-links", "--", location, f"{folder}/"]
    if "::" not in location and not location.startswith("rsync://"):
        command.remove("--contimeout=30")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    except subprocess.TimeoutExpired:
        raise SourceUnreachable(f"rsync of {location} took more than an hour.") from None
    if done.returncode not in (0, 24):
        raise SourceUnreachable(f"rsync of {location} failed: {done.stderr.strip()[-300:]}")
    return look_at_folder(packs, tenant, folder, cursor, location)
