"""`mnemon mcp`: alone it serves agents, with a word it sets their programs up."""

import typer

from mnemon.cli.agents.install import install
from mnemon.cli.agents.mcp import TokenFile, Tools, mcp
from mnemon.cli.context import on_its_own

app = typer.Typer(invoke_without_command=True)
app.command("install")(install)


@app.callback()
@on_its_own("It is the door of agents itself.")
def serve_agents(context: typer.Context, token_file: TokenFile = None, tools: Tools = None) -> None:
    """Serve agents over standard input and output.

    Example, in the settings of an MCP client: {"command": "mnemon", "args": ["mcp"]}. `mnemon mcp install` writes it.
    """
    if context.invoked_subcommand is None:
        mcp(token_file, tools)
