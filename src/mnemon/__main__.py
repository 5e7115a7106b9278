"""`python -m mnemon` is the `mnemon` command."""

from mnemon.cli.main import run

run()
