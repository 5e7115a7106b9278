"""`mnemon login` and `logout`: let commands work at a server."""

import socket
import sys
from typing import Annotated
from urllib.parse import urlsplit

import typer

from mnemon.cli.context import on_its_own, run_async, settings_for_command
from mnemon.cli.output import Json, say, show
from mnemon.client.remote import RemoteCalls
from mnemon.client.servers import address_of, keep_token, known_servers
from mnemon.errors import InvalidRequest, MnemonError, NotAuthenticated, NotFound
from mnemon.identity.operations import account, tokens
from mnemon.identity.roles import CredentialScope
from mnemon.settings import is_loopback

Url = Annotated[str, typer.Argument(help="The server's address, or a login link of it.", metavar="URL")]


@on_its_own("It keeps a token on this machine.")
def login(url: Url, as_json: Json = False) -> None:
    """Log in to a server, so that commands work there with --server or MNEMON_SERVER.

    With a login link (`mnemon user link`) a token is made for this machine. With a plain address an access token is
    asked for on a terminal, and else read from the first line of the input; a login link will do there too.

    Example: mnemon login https://mnemon.example.org
    """
    address, _, secret = url.partition("#")
    server, token = address_of(address), ""
    if not secret:
        run_async(_is_there(server))
        server, secret, token = _by_what_was_given(server, _asked_token())
    me = run_async(_by_link(server, secret) if secret else _by_given(server, token))
    told = {"server": server, "user": me.email, "tenant": me.tenant, "role": str(me.role)}
    show(told, as_json, lambda: _tell(server, me))


@on_its_own("It forgets a token of this machine.")
def logout(url: Url, as_json: Json = False) -> None:
    """Forget the token that `mnemon login` kept for a server.

    It still opens the server until it is revoked there: on the account page, or with `mnemon token revoke`.

    Example: mnemon logout https://mnemon.example.org
    """
    settings, server = settings_for_command(), address_of(url)
    if server not in known_servers(settings.home):
        raise NotFound(f"No token for {server} is kept here.", server=server)
    keep_token(settings.home, server, None)
    said = f"The token for {server} is forgotten here. Revoke it on your account page there: {server}/account"
    show({"server": server}, as_json, lambda: say(said))


async def _is_there(server: str) -> None:
    """Before anybody looks for a token: whether something answers at this address."""
    async with RemoteCalls(server) as stranger:
        await stranger.send("GET", "/health", again=False, taken=range(100, 600))


async def _by_link(server: str, secret: str) -> account.Me:
    async with RemoteCalls(server) as stranger:
        begun = await stranger.call(account.log_in_by_link, account.LinkLogin.model_validate({"link": secret}))
    async with RemoteCalls(server, begun.access_token) as session:
        wanted = tokens.NewToken(name=f"command on {socket.gethostname()}"[:100], scope=CredentialScope.WRITE)
        made = await session.call(tokens.add_token, wanted)
        await session.call(account.log_out, account.OwnAccountAsked())
    return await _by_token(server, made.secret)


async def _by_given(server: str, token: str) -> account.Me:
    try:
        return await _by_token(server, token)
    except MnemonError as refusal:
        if refusal.code != NotAuthenticated.code:
            raise
        raise NotAuthenticated(
            "This opens nothing there. Paste an access token, which begins with mnm_ (the account page makes one: "
            f"{server}/account), or the whole of a login link (`mnemon user link`)."
        ) from None


async def _by_token(server: str, token: str) -> account.Me:
    async with RemoteCalls(server, token) as calls:
        me = await calls.call(account.me, account.OwnAccountAsked())
    keep_token(settings_for_command().home, server, token)
    return me


def _by_what_was_given(server: str, given: str) -> tuple[str, str, str]:
    """Server, secret of a link, token: a link that was pasted where a token is asked for is taken as one."""
    if "://" not in given and not given.startswith("/"):
        return server, "", given
    address, _, secret = given.partition("#")
    if not secret:
        raise InvalidRequest(
            "That is an address without the secret of a login link, which follows a #: paste the whole link, or an "
            "access token, which begins with mnm_."
        )
    if "://" in address and _place_of(address) != _place_of(server):
        raise InvalidRequest(f"This link is of {address_of(address)}, and you log in to {server}: use one of the two.")
    return server, secret, ""


def _place_of(address: str) -> tuple[str, int | None]:
    """Host and port; this machine has several names."""
    parts = urlsplit(address_of(address))
    host = parts.hostname or ""
    return "localhost" if is_loopback(host) else host, parts.port


def _asked_token() -> str:
    """Never from an argument: those stand in the shell's history and in the process list."""
    if sys.stdin.isatty():
        return str(typer.prompt("Access token or login link", hide_input=True)).strip()
    token = sys.stdin.readline().strip()
    if not token:
        raise InvalidRequest("No token came on the standard input: give a token or a login link as its first line.")
    return token


def _tell(server: str, me: account.Me) -> None:
    say(f"Logged in to {server} as {me.name} ({me.role}) of {me.tenant}.")
    say(f"Commands work there with: export MNEMON_SERVER={server}")
