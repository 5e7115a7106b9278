"""The page of help: what this is, and how an agent or a program is connected."""

import json

from fastapi import APIRouter, Request, Response

from mnemon.api.access import MnemonPart
from mnemon.identity.roles import Action
from mnemon.mcp.http import PATH
from mnemon.web.rendering import as_page, render, visit

router = APIRouter(include_in_schema=False)


@router.get("/help")
@as_page
async def help_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, Action.VIEW_OWN_ACCOUNT)
    return render("help.html", here="help", visitor=visitor, url=mnemon.url, clients=clients_of(f"{mnemon.url}{PATH}"))


def clients_of(address: str) -> list[tuple[str, str, str]]:
    """By client: where its setting goes, and the setting."""
    bearer = {"Authorization": "Bearer mnm_…"}
    local = {"mcpServers": {"mnemon": {"command": "mnemon", "args": ["mcp"], "env": {"MNEMON_TOKEN": "mnm_…"}}}}
    code = {"servers": {"mnemon": {"type": "http", "url": address, "headers": bearer}}}
    cursor = {"mcpServers": {"mnemon": {"url": address, "headers": bearer}}}
    added = f'claude mcp add --transport http mnemon {address} \\\n  --header "Authorization: Bearer mnm_…"'
    return [
        ("Claude Code", "In a terminal", added),
        ("Claude Desktop", "Settings → Developer → Edit Config", _written(local)),
        ("Cursor", ".cursor/mcp.json", _written(cursor)),
        ("VS Code", ".vscode/mcp.json", _written(code)),
        ("Codex", "~/.codex/config.toml", '[mcp_servers.mnemon]\ncommand = "mnemon"\nargs = ["mcp"]'),
    ]


def _written(setting: object) -> str:
    return json.dumps(setting, indent=2, ensure_ascii=False)
