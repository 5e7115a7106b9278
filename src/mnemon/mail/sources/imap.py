"""Mail in an IMAP folder: messages with a UID above the last one, or all where the folder was made anew."""

import base64
import contextlib
import imaplib
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import UUID

from mnemon.mail.archives.ranges import ArchivedMessage, ArchiveRange
from mnemon.mail.errors import SourceRefused, SourceUnreachable
from mnemon.mail.sources.kinds import Brought, BroughtArchive, SourceCursor
from mnemon.mail.storing.packs import Packs

SECONDS = 60
FETCHED_AT_ONCE = 100
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def look_at_imap(packs: Packs, tenant: UUID, location: str, cursor: SourceCursor, password: str) -> Brought:
    """All that the folder has above the cursor, or nothing: what was not brought stays above it."""
    host, port, user, box, secure = _place(location)
    try:
        made: imaplib.IMAP4 = (
            imaplib.IMAP4_SSL(host, port or 993, timeout=SECONDS)
            if secure
            else imaplib.IMAP4(host, port or 143, timeout=SECONDS)
        )
        with _leaving(made):
            _log_in(made, user, password)
            state, _ = made.select(_folder_name(box), readonly=True)
            if state != "OK":
                raise SourceRefused(f"There is no folder {box!r} for {user} on {host}.")
            validity = (made.response("UIDVALIDITY")[1] or [b"0"])[0] or b"0"
            same = cursor.get("validity") == validity.decode()
            last = int(cursor.get("uid", 0)) if same else 0
            now: SourceCursor = {"validity": validity.decode(), "uid": last}
            kept = packs.keep_mails(tenant, _fetched(made, last, now), "imap")
    except imaplib.IMAP4.abort as failure:
        raise SourceUnreachable(f"{host} broke off: {failure}") from None
    except imaplib.IMAP4.error as failure:
        raise SourceRefused(f"{host} refused: {failure}") from None
    except OSError as failure:
        raise SourceUnreachable(f"{host} did not answer: {failure}") from None
    return Brought(now, [BroughtArchive(kept, location)] if kept else [])


@contextlib.contextmanager
def _leaving(server: imaplib.IMAP4) -> Iterator[None]:
    """Says good-bye. How that goes is of no matter: all was read by then, or something else went wrong before."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError, imaplib.IMAP4.error):
            server.logout()
        with contextlib.suppress(OSError):
            server.shutdown()


def _place(location: str) -> tuple[str, int | None, str, str, bool]:
    try:
        place = urlsplit(location)
        port = place.port
    except ValueError:
        raise SourceRefused(f"{location!r} is no address.") from None
    user, box = unquote(place.username or ""), unquote(place.path.strip("/")) or "INBOX"
    if not place.hostname or not user or CONTROL.search(user + box):
        raise SourceRefused("An IMAP source looks like imaps://user@host/folder.")
    return place.hostname, port, user, box, place.scheme == "imaps"


def _log_in(server: imaplib.IMAP4, user: str, password: str) -> None:
    """The command LOGIN knows ASCII alone."""
    if user.isascii() and password.isascii():
        server.login(user, password)
    else:
        server.authenticate("PLAIN", lambda _: f"\0{user}\0{password}".encode())


def _folder_name(name: str) -> str:
    """As IMAP writes it: letters beyond ASCII in base64 of UTF-16. A name without any is taken for written so."""
    if not name.isascii():
        name = re.sub(r"&|[^\x00-\x7f]+", _shifted, name)
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _shifted(found: re.Match[str]) -> str:
    if found[0] == "&":
        return "&-"
    written = base64.b64encode(found[0].encode("utf-16-be")).decode().rstrip("=").replace("/", ",")
    return f"&{written}-"


def _fetched(server: imaplib.IMAP4, last: int, now: SourceCursor) -> Iterator[ArchiveRange]:
    found = _asked(server, "SEARCH", f"UID {last + 1}:*")
    uids = sorted(int(one) for one in (found[0] or b"").split() if int(one) > last)
    for at in range(0, len(uids), FETCHED_AT_ONCE):
        part = uids[at : at + FETCHED_AT_ONCE]
        for one in _asked(server, "FETCH", ",".join(map(str, part)), "(UID BODY.PEEK[])"):
            with contextlib.suppress(TypeError, ValueError):
                if isinstance(one, tuple):
                    yield ArchivedMessage(0, len(one[1]), bytes(one[1]))
        now["uid"] = max(now["uid"], *part)


def _asked(server: imaplib.IMAP4, command: str, *given: str) -> list[Any]:
    """What a server would not give now is asked for again: it must not be taken for what is not there."""
    state, answers = server.uid(command, *given)
    if state != "OK":
        words = b" ".join(one for one in answers if isinstance(one, bytes)).decode("utf-8", "replace")
        raise SourceUnreachable(f"{server.host} did not answer {command}: {words}")
    return answers
