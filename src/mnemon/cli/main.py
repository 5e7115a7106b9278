"""The `mnemon` command: its groups, and the one place where errors become exit codes."""

import sys
from typing import Annotated

import typer

from mnemon import __version__
from mnemon.cli import (
    add,
    artifact,
    ask,
    database,
    demo,
    documents,
    jobs,
    log,
    mcp,
    memory,
    models,
    privacy,
    runs,
    semantic_events,
    serve,
    settings,
    subscription,
    tenant,
    token,
    user,
    work,
)
from mnemon.cli.output import fail
from mnemon.errors import MnemonError

app = typer.Typer(
    name="mnemon",
    help="Evidence-first memory for teams and their AI agents. Start with [bold]mnemon serve[/].",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("serve")(serve.serve)
app.command("work")(work.work)
app.command("search")(ask.search)
app.command("ask")(ask.ask)
app.command("mcp")(mcp.mcp)
app.command("demo")(demo.demo)
app.command("add")(add.add)
app.command("settings")(settings.settings)
app.add_typer(database.app, name="db")
app.add_typer(models.app, name="models")
app.add_typer(tenant.app, name="tenant")
app.add_typer(user.app, name="user")
app.add_typer(token.app, name="token")
app.add_typer(documents.app, name="documents")
app.add_typer(runs.app, name="runs")
app.add_typer(artifact.app, name="artifact")
app.add_typer(semantic_events.app, name="events")
app.add_typer(log.app, name="log")
app.add_typer(memory.app, name="memory")
app.add_typer(privacy.app, name="privacy")
app.add_typer(jobs.app, name="jobs")
app.add_typer(subscription.app, name="subscription")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


def run() -> None:
    try:
        app()
    except MnemonError as failure:
        fail(failure, as_json="--json" in sys.argv)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has left, as `| head` does.
        sys.stderr.close()
        sys.exit(141)
