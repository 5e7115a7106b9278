"""The programs that speak MCP: where each keeps its configuration, and how Mnemon is written into it."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mnemon.errors import InvalidRequest

NAME = "mnemon"
DESKTOP = {
    "darwin": "~/Library/Application Support/Claude/claude_desktop_config.json",
    "win32": "~/AppData/Roaming/Claude/claude_desktop_config.json",
}


@dataclass(frozen=True)
class McpClient:
    """A program, and the place of the servers that it knows."""

    title: str
    file: str
    key: str = "mcpServers"

    @property
    def path(self) -> Path:
        return Path(self.file).expanduser().absolute()


CLIENTS: Mapping[str, McpClient] = {
    "claude": McpClient(
        "Claude Desktop", DESKTOP.get(sys.platform, "~/.config/Claude/claude_desktop_config.json")
    ),
    "claude-code": McpClient("Claude Code, in this folder", ".mcp.json"),
    "cursor": McpClient("Cursor", "~/.cursor/mcp.json"),
    "gemini": McpClient("Gemini CLI", "~/.gemini/settings.json"),
    "vscode": McpClient("VS Code, in this folder", ".vscode/mcp.json", "servers"),
    "windsurf": McpClient("Windsurf", "~/.codeium/windsurf/mcp_config.json"),
}  # fmt: skip


def entry_of(program: str, home: Path, tools: str | None, server: str | None = None) -> dict[str, Any]:
    """How a client starts Mnemon: by its full path, since a desktop program knows little of a shell's. The home of
    whoever logged in to a server has the token for it."""
    arguments = ["mcp", *(["--tools", tools] if tools else [])]
    place = {"MNEMON_HOME": str(home), **({"MNEMON_SERVER": server} if server else {})}
    return {"command": program, "args": arguments, "env": place}


def read_configuration(path: Path) -> dict[str, Any]:
    """What stands there; nothing where there is no file. What cannot be read is not written over."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as failure:
        raise InvalidRequest(f"{path} cannot be read: {failure}.", file=str(path)) from None
    try:
        found = json.loads(text) if text.strip() else {}
    except ValueError as failure:
        raise InvalidRequest(
            f"{path} is no plain JSON ({failure}): nothing was changed. Put the lines above in by hand.", file=str(path)
        ) from None
    if not isinstance(found, dict):
        raise InvalidRequest(f"{path} holds no JSON object: nothing was changed.", file=str(path))
    return found


def with_entry(configuration: Mapping[str, Any], key: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """All that was there, and Mnemon."""
    servers = configuration.get(key) or {}
    if not isinstance(servers, dict):
        raise InvalidRequest(f"`{key}` is no JSON object there: nothing was changed.", key=key)
    return {**configuration, key: {**servers, NAME: dict(entry)}}


def write_configuration(path: Path, configuration: Mapping[str, Any]) -> Path | None:
    """Whole or not at all; what was there is kept beside it, and its name told."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = None
    if path.exists():
        kept = path.with_name(f"{path.name}.{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.bak")
        kept.write_bytes(path.read_bytes())
        kept.chmod(path.stat().st_mode & 0o777)
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    new.write_text(json.dumps(configuration, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    new.chmod(path.stat().st_mode & 0o777 if kept else 0o600)
    new.replace(path)
    return kept
