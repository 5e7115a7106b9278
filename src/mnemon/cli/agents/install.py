"""`mnemon mcp install`: writes Mnemon into the configuration of a program that speaks MCP, after showing it."""

import json
import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mnemon.cli.agents.clients import CLIENTS, entry_of, read_configuration, with_entry, write_configuration
from mnemon.cli.agents.mcp import Profile
from mnemon.cli.context import on_its_own
from mnemon.cli.output import agree, say
from mnemon.client.servers import address_of
from mnemon.settings import load_settings


class ClientName(StrEnum):
    CLAUDE = "claude"
    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    GEMINI = "gemini"
    VSCODE = "vscode"
    WINDSURF = "windsurf"


@on_its_own("It changes files of whoever sits at the machine.")
def install(
    client: Annotated[ClientName, typer.Argument(help="The program.")],
    tools: Annotated[Profile | None, typer.Option(help="Which tools to offer; unset: core.")] = None,
    file: Annotated[Path | None, typer.Option(help="Its configuration, where that is kept elsewhere.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Tell a program that speaks MCP where Mnemon is: shows what it writes, and asks first.

    What stands in the file stays, and a copy of it is kept beside it.

    Example: mnemon mcp install cursor
    """
    known = CLIENTS[client.value]
    path = file.expanduser().absolute() if file else known.path
    program = shutil.which("mnemon") or str(Path(sys.executable).with_name("mnemon"))
    settings = load_settings()
    server = address_of(settings.server) if settings.server else None
    entry = entry_of(program, settings.home.expanduser().absolute(), tools.value if tools else None, server)
    say(f"{known.title} reads {path}. This goes into it:")
    typer.echo(json.dumps({known.key: {"mnemon": entry}}, indent=2, ensure_ascii=False))
    before = read_configuration(path)
    after = with_entry(before, known.key, entry)
    if after == before:
        say("It is there already: nothing to do.")
        return
    if not yes:
        replaces = " in the place of what it says of Mnemon" if "mnemon" in before.get(known.key, {}) else ""
        agree(f"Write it{replaces}?")
    kept = write_configuration(path, after)
    say(f"Written.{f' What was there: {kept}.' if kept else ''} Start {known.title.partition(',')[0]} anew.")
