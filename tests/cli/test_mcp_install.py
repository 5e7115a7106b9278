"""Mnemon is written into the configuration of agents' programs, and nothing else there is touched."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mnemon.cli.agents.clients import CLIENTS
from mnemon.cli.main import app


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MNEMON_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def install(*words: str, answer: str | None = None) -> str:
    result = CliRunner().invoke(app, ["mcp", "install", *words], input=answer)
    return f"{result.exit_code} {result.output}"


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_gets_its_entry(client: str) -> None:
    assert "Written." in install(client, "--yes")
    known = CLIENTS[client]
    [(name, entry)] = json.loads(known.path.read_text())[known.key].items()
    assert (name, entry["args"]) == ("mnemon", ["mcp"])
    assert Path(entry["command"]).is_absolute()
    assert "nothing to do" in install(client, "--yes")


def test_it_is_shown_and_asked_first_and_what_is_there_stays(own_folder: Path) -> None:
    file = own_folder / ".cursor" / "mcp.json"
    file.parent.mkdir()
    before = {"theme": "dark", "mcpServers": {"other": {"command": "x"}, "mnemon": {"command": "old"}}}
    file.write_text(json.dumps(before))
    refused = install("cursor", answer="n\n")
    assert '"args"' in refused
    assert json.loads(file.read_text()) == before
    assert "Written." in install("cursor", "--tools", "full", answer="y\n")
    after = json.loads(file.read_text())
    assert (after["theme"], after["mcpServers"]["other"]) == ("dark", {"command": "x"})
    assert after["mcpServers"]["mnemon"]["args"] == ["mcp", "--tools", "full"]
    [kept] = file.parent.glob("*.bak")
    assert json.loads(kept.read_text()) == before


def test_what_cannot_be_read_is_left_alone(own_folder: Path) -> None:
    file = own_folder / ".vscode" / "mcp.json"
    file.parent.mkdir()
    file.write_text("{ // servers of mine\n}")
    result = CliRunner().invoke(app, ["mcp", "install", "vscode", "--yes"])
    assert result.exit_code != 0
    assert file.read_text() == "{ // servers of mine\n}"
    assert "by hand" in str(result.exception or result.output)


def test_the_command_serves_without_a_word() -> None:
    assert sys.executable
    result = CliRunner().invoke(app, ["mcp", "--help"])
    assert "install" in result.output
    assert "--token-file" in result.output
