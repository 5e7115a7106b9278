"""Archives on other machines: over HTTP(S), by rsync, from an IMAP folder. Each brings only what is new there."""

import contextlib
import imaplib
import shutil
import ssl
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit
from uuid import UUID

from mnemon.mail.archives.ranges import ArchivedMessage, ArchiveRange
from mnemon.mail.errors import SourceRefused, SourceUnreachable
from mnemon.mail.sources.files import look_at_folder
from mnemon.mail.sources.kinds import Brought, BroughtArchive, SourceCursor
from mnemon.mail.sources.reach import SameHost
from mnemon.mail.storing.packs import Packs

SECONDS = 60
BLOCK = 1 << 20
# A server may not fill the disk: what is larger is refused.
LARGEST_DOWNLOAD = 8 << 30
FETCHED_AT_ONCE = 100


def look_at_web(packs: Packs, tenant: UUID, url: str, cursor: SourceCursor, folder: Path) -> Brought:
    """The archive behind an address, unless the server says that it is the one that was read."""
    request = urllib.request.Request(url, headers={"User-Agent": "mnemon"})  # noqa: S310  http and https alone
    if cursor.get("etag"):
        request.add_header("If-None-Match", cursor["etag"])
    if cursor.get("modified"):
        request.add_header("If-Modified-Since", cursor["modified"])
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        try:
            with urllib.request.build_opener(SameHost).open(request, timeout=SECONDS) as answer:
                told = {"etag": answer.headers.get("ETag"), "modified": answer.headers.get("Last-Modified")}
                size = 0
                while block := answer.read(BLOCK):
                    size += len(block)
                    if size > LARGEST_DOWNLOAD:
                        raise SourceRefused(f"{url} is larger than {LARGEST_DOWNLOAD >> 30} GB.")
                    file.write(block)
        except urllib.error.HTTPError as refusal:
            if refusal.code == 304:
                return Brought(cursor)
            raise _refused(url, refusal.code) from None
        except (OSError, ssl.SSLError, TimeoutError) as failure:
            raise SourceUnreachable(f"{url} did not answer: {failure}") from None
        file.flush()
        kept = packs.keep_file(tenant, Path(file.name))
    now = told | {"archive": kept.archive_id}
    return Brought(now) if kept.archive_id == cursor.get("archive") else Brought(now, [BroughtArchive(kept, url)])


def _refused(url: str, status: int) -> Exception:
    words = f"{url} answered {status}"
    return SourceUnreachable(words) if status >= 500 or status in (408, 429) else SourceRefused(words)


def look_by_rsync(packs: Packs, tenant: UUID, location: str, cursor: SourceCursor, folder: Path) -> Brought:
    """A copy of the remote folder is kept beside, so that only differences travel; its archives are read like files."""
    program = shutil.which("rsync")
    if program is None:
        raise SourceRefused("rsync is not installed on this machine: install it, or use another kind of source.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
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


def look_at_imap(packs: Packs, tenant: UUID, location: str, cursor: SourceCursor, password: str) -> Brought:
    """Messages with a UID above the last one; all of them where the folder was made anew (UIDVALIDITY)."""
    place = urlsplit(location)
    user, box = unquote(place.username or ""), unquote(place.path.strip("/")) or "INBOX"
    if not place.hostname or not user:
        raise SourceRefused("An IMAP source looks like imaps://user@host/folder.")
    secure = place.scheme == "imaps"
    try:
        made: imaplib.IMAP4 = (
            imaplib.IMAP4_SSL(place.hostname, place.port or 993, timeout=SECONDS)
            if secure
            else imaplib.IMAP4(place.hostname, place.port or 143, timeout=SECONDS)
        )
        with made as server:
            server.login(user, password)
            state, _ = server.select(f'"{box}"', readonly=True)
            if state != "OK":
                raise SourceRefused(f"There is no folder {box!r} for {user} on {place.hostname}.")
            validity = (server.response("UIDVALIDITY")[1] or [b"0"])[0] or b"0"
            same = cursor.get("validity") == validity.decode()
            last = int(cursor.get("uid", 0)) if same else 0
            now: SourceCursor = {"validity": validity.decode(), "uid": last}
            kept = packs.keep_mails(tenant, _fetched(server, last, now), "imap")
    except imaplib.IMAP4.error as failure:
        raise SourceRefused(f"{place.hostname} refused: {failure}") from None
    except (TimeoutError, OSError, ssl.SSLError) as failure:
        raise SourceUnreachable(f"{place.hostname} did not answer: {failure}") from None
    return Brought(now, [BroughtArchive(kept, location)] if kept else [])


def _fetched(server: imaplib.IMAP4, last: int, now: SourceCursor) -> Iterator[ArchiveRange]:
    _, found = server.uid("SEARCH", f"UID {last + 1}:*")
    uids = sorted(int(one) for one in (found[0] or b"").split() if int(one) > last)
    for at in range(0, len(uids), FETCHED_AT_ONCE):
        part = ",".join(map(str, uids[at : at + FETCHED_AT_ONCE]))
        _, answers = server.uid("FETCH", part, "(UID BODY.PEEK[])")
        for one in answers:
            with contextlib.suppress(TypeError, ValueError):
                if isinstance(one, tuple):
                    yield ArchivedMessage(0, len(one[1]), bytes(one[1]))
        now["uid"] = max(now["uid"], *uids[at : at + FETCHED_AT_ONCE])
