"""`mnemon home`: what gateways share of a home."""

from dataclasses import asdict

import typer

from mnemon.cli.context import on_its_own, settings_at_home
from mnemon.cli.output import Json, counted, say, show
from mnemon.errors import BadSettings, Conflict
from mnemon.log.home_sharing import share_home
from mnemon.log.privacy.erasure_lines import FOLDER
from mnemon.serving import served_address
from mnemon.shared_home import KEYS, SECRET, STORE, SharedHome, home_of

app = typer.Typer(help="The home: keys and checkpoints that gateways share.", no_args_is_help=True)


@app.command()
@on_its_own("It reads the keys of this machine.")
def share(as_json: Json = False) -> None:
    """Bring this home's keys, erasure list and checkpoints to MNEMON_HOME_STORE, for gateways on other machines.

    Stop servers and workers first. Keys are encrypted with MNEMON_HOME_STORE_SECRET; once the bucket gives them back,
    they are removed here, so that no copy outlives `mnemon privacy rotate --discard`. Nothing is overwritten there.

    Example: mnemon home share
    """
    home = _shared_home()
    if running := served_address(home.folder):
        raise Conflict(f"A server of this home runs at {running} and goes on signing: stop it first.")
    parts = share_home(home)
    told = ", ".join(
        [counted(parts.keys, "key"), counted(parts.erasures, "erasure"), counted(parts.checkpoints, "checkpoint")]
    )
    only = f"The keys are nowhere else any more, and {SECRET} opens them: keep a copy of it apart."
    show(asdict(parts), as_json, lambda: say(f"{home.bucket.address} has the home now: {told}. {only}"))


@app.command()
@on_its_own("It needs the secrets of this machine.")
def reseal(as_json: Json = False) -> None:
    """Encrypt keys and erasure list in MNEMON_HOME_STORE with a new MNEMON_HOME_STORE_SECRET.

    First give every gateway and worker the new secret, and the old one as MNEMON_HOME_STORE_SECRET_PREVIOUS; after this
    take the old one away. If it was stolen, change the keys too: `mnemon log rotate-key`, `mnemon privacy rotate`.

    Example: mnemon home reseal
    """
    home = _shared_home()
    changed = sum(home.sealed(within).reseal() for within in (KEYS, FOLDER))
    show({"resealed": changed}, as_json, lambda: say(f"Encrypted {counted(changed, 'object')} with the new secret."))


def _shared_home() -> SharedHome:
    home = home_of(settings_at_home())
    if not isinstance(home, SharedHome):
        raise BadSettings(f"Set {STORE} to the bucket and {SECRET} to what keys are encrypted with.", variable=STORE)
    return home
