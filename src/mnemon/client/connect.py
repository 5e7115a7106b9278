"""What `from mnemon import connect` gives: the client for a home of this machine, or for a server by its address."""

import os
import re
from pathlib import Path

from mnemon.client.calls import AsyncMnemonClient
from mnemon.client.embedded import EmbeddedCalls
from mnemon.client.remote import RemoteCalls
from mnemon.client.roots import Roots
from mnemon.client.servers import address_of, token_for
from mnemon.client.waiting import MnemonClient
from mnemon.errors import InvalidRequest
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.settings import load_settings

# A path that begins so is meant as one.
BEGINNINGS = (".", os.sep, "/")


def connect(
    target: str | Path | None = None,
    *,
    token: str | None = None,
    tenant: str = DEFAULT_SLUG,
    roots: str | Path | None = None,
    prove_reads: bool = False,
) -> MnemonClient:
    """Use it in a `with` block. A target that begins with http is a server, any other a home folder; a folder that is
    not there yet is made where its path begins with `/`, `./`, `../` or `~`, or is a `Path`.

    Without a target it is the server that MNEMON_SERVER names, or else the home of this machine. A server's token is
    the one given, MNEMON_SERVER_TOKEN, or what `mnemon login` kept; the tenant is the token's.

    `roots` is a file where the last root that was seen is kept from one program to the next; with `prove_reads` every
    call has it proven that the log still holds all of that.
    """
    return MnemonClient(lambda: connect_async(target, token=token, tenant=tenant, roots=roots, prove_reads=prove_reads))


def connect_async(
    target: str | Path | None = None,
    *,
    token: str | None = None,
    tenant: str = DEFAULT_SLUG,
    roots: str | Path | None = None,
    prove_reads: bool = False,
) -> AsyncMnemonClient:
    """The same for programs that await: use it in an `async with` block."""
    settings = load_settings()
    kept = Roots(Path(roots).expanduser() if roots else None)
    if url := _server(target, settings.server):
        return AsyncMnemonClient(RemoteCalls(url, token or token_for(settings, url)), kept, prove_reads=prove_reads)
    home = settings.home if target is None else _home(target)
    if token is not None:
        raise InvalidRequest(f"The token is for a server, and {str(home)!r} is a folder: {_addressed(home)}.")
    at_home = settings.model_copy(update={"home": home})
    return AsyncMnemonClient(EmbeddedCalls(at_home, tenant), kept, prove_reads=prove_reads)


def _server(target: str | Path | None, named: str | None) -> str | None:
    """The address, where one is meant."""
    if target is None:
        return address_of(named) if named else None
    return address_of(target) if isinstance(target, str) and "://" in target else None


def _home(target: str | Path) -> Path:
    """A word that is no folder is more likely an address without its beginning than a wish for a new home."""
    home = Path(target).expanduser()
    if isinstance(target, str) and not target.startswith(("~", *BEGINNINGS)) and not home.is_dir():
        raise InvalidRequest(
            f"{target!r} is neither an address nor a folder that is there: {_addressed(target)}, or "
            f"{f'.{os.sep}{target}'!r} to begin a new home in this folder."
        )
    return home


def _addressed(target: str | Path) -> str:
    return f"write {f'https://{target}'!r} for a server" if _like_a_host(str(target)) else "a server is 'https://…'"


def _like_a_host(text: str) -> bool:
    return re.fullmatch(r"[\w.-]+(:\d+)?(/.*)?", text) is not None and not text.startswith(".")
