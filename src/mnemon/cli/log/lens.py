"""`mnemon lens list|rebuild|verify`: what is derived from the log, and whether it is what the log gives."""

import typer

from mnemon.cli.binding.bind import command
from mnemon.cli.output import counted, say, table
from mnemon.log_operations import lenses

app = typer.Typer(
    help="Lenses: tables derived from the log, made anew from it, compared with it.", no_args_is_help=True
)


def _print_list(found: lenses.LensList) -> None:
    rows = [(one.name, one.lifecycle, one.status, one.version, one.behind, one.rebuilt_at) for one in found.lenses]
    table(["Lens", "Written", "Status", "Version", "Behind", "Rebuilt"], rows, "No lenses.")


def _print_rebuilt(done: lenses.RebuiltLens) -> None:
    say(f"{done.lens} was rebuilt from {counted(done.events, 'event')} in {done.seconds:.1f} s.")


def _print_verified(found: lenses.VerifiedLens) -> None:
    if found.matches:
        replayed = counted(found.events, "event")
        say(f"{found.lens} is what the log gives: {found.stored_hash[:16]}, {replayed} replayed.")
    else:
        say(f"{found.lens} is not what the log gives. Make it anew with: mnemon lens rebuild {found.lens}", "bold red")


command(app, "list", lenses.listed, _print_list, example="mnemon lens list")
command(
    app, "rebuild", lenses.rebuild, _print_rebuilt, arguments=["name"], example="mnemon lens rebuild documents"
)  # fmt: skip
command(
    app, "verify", lenses.verify, _print_verified, arguments=["name"], failed=lambda found: not found.matches,
    example="mnemon lens verify documents",
)  # fmt: skip
