"""By which address a file of this machine is known, here and at a server on another machine."""

import socket
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from mnemon.settings import is_loopback


def file_address(path: Path, server: str | None = None) -> str:
    """With this machine's name (RFC 8089) at a server elsewhere: others send it files with the same path."""
    address = path.resolve().as_uri()
    if server is None or is_loopback(urlsplit(server).hostname or ""):
        return address
    return address.replace("file://", f"file://{_this_machine()}", 1)


def file_at(source_uri: str) -> Path | None:
    """Where a document's file is, or was, on this machine; None of another machine's, and of what is no file."""
    parts = urlsplit(source_uri)
    if parts.scheme != "file" or parts.netloc.lower() not in ("", "localhost", _this_machine()):
        return None
    return Path(unquote(parts.path))


def _this_machine() -> str:
    return quote(socket.gethostname().lower(), safe="")
