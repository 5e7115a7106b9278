"""What `from mnemon import connect` gives: the client for a home of this machine, or for a server by its address."""

from pathlib import Path

from mnemon.client.calls import AsyncMnemonClient
from mnemon.client.embedded import EmbeddedCalls
from mnemon.client.remote import RemoteCalls
from mnemon.client.roots import Roots
from mnemon.client.servers import address_of, token_for
from mnemon.client.waiting import MnemonClient
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.settings import load_settings


def connect(
    target: str | Path | None = None,
    *,
    token: str | None = None,
    tenant: str = DEFAULT_SLUG,
    roots: str | Path | None = None,
    prove_reads: bool = False,
) -> MnemonClient:
    """Use it in a `with` block. A target that begins with http is a server, any other a home folder.

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
    if target is None:
        target = settings.server or settings.home
    kept = Roots(Path(roots).expanduser() if roots else None)
    if str(target).startswith(("http://", "https://")):
        url = address_of(str(target))
        return AsyncMnemonClient(RemoteCalls(url, token or token_for(settings, url)), kept, prove_reads=prove_reads)
    at_home = settings.model_copy(update={"home": Path(target).expanduser()})
    return AsyncMnemonClient(EmbeddedCalls(at_home, tenant), kept, prove_reads=prove_reads)
