"""Which servers a person has logged in to: their tokens, in a file that only its owner reads."""

import os
from pathlib import Path
from urllib.parse import urlsplit

import orjson

from mnemon.errors import InvalidRequest
from mnemon.settings import Settings

FILE = "servers.json"


def address_of(text: str) -> str:
    """A server's address as it is kept: without a path, a query or the secret of a link."""
    parts = urlsplit(text.strip())
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise InvalidRequest(f"{text!r} is not an address: write one like https://mnemon.example.org.")
    path = parts.path.rstrip("/").removesuffix("/login")
    return f"{parts.scheme}://{parts.netloc}{path}"


def token_for(settings: Settings, url: str) -> str | None:
    if settings.server_token is not None:
        return settings.server_token.get_secret_value()
    return known_servers(settings.home).get(url)


def known_servers(home: Path) -> dict[str, str]:
    try:
        found = orjson.loads((home / FILE).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return {str(url): str(token) for url, token in found.items()} if isinstance(found, dict) else {}


def keep_token(home: Path, url: str, token: str | None) -> None:
    """None forgets it. Whole before anyone can see it."""
    known = known_servers(home)
    known.pop(url, None)
    kept = known if token is None else known | {url: token}
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = home / f".{FILE}.{os.getpid()}"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as output:
        output.write(orjson.dumps(kept))
    draft.replace(home / FILE)
