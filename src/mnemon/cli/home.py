"""`mnemon home`: what gateways share of a home."""

from dataclasses import asdict

import typer

from mnemon.cli.context import on_its_own, settings_at_home
from mnemon.cli.output import Json, counted, say, show
from mnemon.errors import BadSettings, Conflict
from mnemon.log.home_sharing import share_home
from mnemon.serving import served_address
from mnemon.shared_home import SECRET, STORE, SharedHome, home_of

app = typer.Typer(help="The home: keys and checkpoints that gateways share.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keeps `share` a command of a group, of which it is the only one."""


@app.command()
@on_its_own("It reads the keys of this machine.")
def share(as_json: Json = False) -> None:
    """Bring this home's keys, erasure list and checkpoints to MNEMON_HOME_STORE, for gateways on other machines.

    Stop servers and workers first. Keys are encrypted with MNEMON_HOME_STORE_SECRET. Nothing is taken away here and
    nothing overwritten there; afterwards move the folders `keys` and `checkpoints` of the home to a safe place.

    Example: mnemon home share
    """
    settings = settings_at_home()
    home = home_of(settings)
    if not isinstance(home, SharedHome):
        raise BadSettings(f"Set {STORE} to the bucket and {SECRET} to what keys are encrypted with.", variable=STORE)
    if running := served_address(settings.home):
        raise Conflict(f"A server of this home runs at {running} and goes on signing: stop it first.")
    parts = share_home(home)
    told = ", ".join(
        [counted(parts.keys, "key"), counted(parts.erasures, "erasure"), counted(parts.checkpoints, "checkpoint")]
    )
    show(asdict(parts), as_json, lambda: say(f"{home.bucket.address} has the home now: {told}."))
