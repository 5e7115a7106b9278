"""The `mnemon` command: its groups, and the one place where errors become exit codes."""

import typer

app = typer.Typer(name="mnemon", no_args_is_help=True)


def run() -> None:
    app()
