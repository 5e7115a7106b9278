"""The `mnemon` command, and the one place where errors become exit codes."""

import os
import sys
from typing import Annotated

import typer

from mnemon import __version__
from mnemon.cli.catalogue import Catalogue
from mnemon.errors import MnemonError

app = typer.Typer(
    name="mnemon",
    cls=Catalogue,
    help="Evidence-first memory for teams and their AI agents. Start with [bold]mnemon add FOLDER[/] and "
    "[bold]mnemon ask[/], or with [bold]mnemon serve[/] for the web page.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True)
    ] = False,
    server: Annotated[
        str | None,
        typer.Option("--server", help="Work at this server, as MNEMON_SERVER says; see `mnemon login`.", metavar="URL"),
    ] = None,
) -> None:
    if server is not None:
        from mnemon.cli.context import SERVER_OF_COMMAND

        os.environ["MNEMON_SERVER"] = server
        SERVER_OF_COMMAND.set(server)


def _say_stopped(stopped: KeyboardInterrupt) -> None:
    """A command may say more, such as whether the work goes on later."""
    said = next((one for one in stopped.args if isinstance(one, str)), "Stopped.")
    sys.stderr.write(f"\n{said}\n" if sys.stderr.isatty() else f"{said}\n")


def run() -> None:
    try:
        app()
    except MnemonError as failure:
        # Its tables and colours take a while to load, which `mnemon --version` should not pay for.
        from mnemon.cli.output import fail

        fail(failure, as_json="--json" in sys.argv)
        sys.exit(1)
    except KeyboardInterrupt as stopped:
        _say_stopped(stopped)
        sys.exit(130)
    except SystemExit as ending:
        # Typer has made it an exit already; a command that ends with 130 of its own accord has said why.
        cause = getattr(ending.__context__, "__cause__", None)
        if isinstance(cause, KeyboardInterrupt):
            _say_stopped(cause)
        raise
    except BrokenPipeError:
        # The reader of our output has left, as `| head` does.
        sys.stderr.close()
        sys.exit(141)
