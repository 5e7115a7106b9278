"""The way in: links that open, whoever started first."""

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mnemon.app import open_mnemon
from mnemon.cli.main import app
from mnemon.errors import InvalidRequest
from mnemon.identity.bootstrap import link_until_first_login
from mnemon.identity.login import login_with_link
from mnemon.serving import telling_address
from mnemon.settings import Settings


def test_until_someone_came_in_a_server_shows_a_way_in_and_a_link_knows_its_tenant(
    served_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command was the first to start on this home, and nobody saw its link."""
    monkeypatch.setenv("MNEMON_HOME", str(served_home))
    monkeypatch.setenv("MNEMON_EMBEDDER", "none")

    async def begin() -> list[str | None]:
        found = []
        for _ in range(2):
            async with open_mnemon(Settings(home=served_home, embedder="none")) as mnemon:
                assert mnemon.first_start is None
                found.append(await link_until_first_login(mnemon.log))
        async with open_mnemon(Settings(home=served_home, embedder="none")) as mnemon:
            await login_with_link(mnemon.database, mnemon.sessions, secret=found[0] or "")
            found.append(await link_until_first_login(mnemon.log))
        return found

    assert CliRunner().invoke(app, ["tenant", "add", "second"]).exit_code == 0
    told = CliRunner().invoke(app, ["user", "add", "bo@example.org", "--tenant", "second"], env={"COLUMNS": "200"})
    assert "mnemon user link bo@example.org --tenant second" in told.stdout
    with telling_address(served_home, "http://127.0.0.1:9341"):
        link = CliRunner().invoke(app, ["user", "link", "bo@example.org", "--tenant", "second"])
    assert link.stdout.startswith("http://127.0.0.1:9341/login#")
    assert "No server" not in link.stderr
    alone = CliRunner().invoke(app, ["user", "link", "--tenant", "second"])
    assert "/login#" in alone.stdout
    assert "No server of this home is running: the link opens once `mnemon serve` listens there." in alone.stderr
    assert CliRunner().invoke(app, ["user", "add", "cy@example.org", "--tenant", "second"]).exit_code == 0
    unclear = CliRunner().invoke(app, ["user", "link", "--tenant", "second"])
    assert isinstance(unclear.exception, InvalidRequest) and "mnemon user link" in unclear.exception.message
    first, second, afterwards = asyncio.run(begin())
    assert first and second and first != second
    assert afterwards is None
