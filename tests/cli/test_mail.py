"""`mnemon mail` as a person or a script runs it: an import does its own work where no worker runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mnemon.cli.main import app
from tests.mail.conftest import message, write_mbox


@pytest.fixture(autouse=True)
def environment(served_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMON_HOME", str(served_home))
    monkeypatch.setenv("MNEMON_EMBEDDER", "none")
    monkeypatch.setenv("MNEMON_DATABASE_LINGER_SECONDS", "5")


def result(*words: str) -> Any:
    done = CliRunner().invoke(app, ["mail", *words, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_import_then_read(tmp_path: Path) -> None:
    archive = write_mbox(tmp_path / "list.mbox", [message(1, "Shall we?\n"), message(2, "> Shall we?\n\nYes.\n", to=1)])
    [done] = result("import", str(archive), "--name", "a-list")["imports"]
    assert (done["status"], done["counts"]["new"]) == ("succeeded", 2)
    assert not result("import", str(archive), "--name", "a-list")["imports"], "nothing is new"
    [thread] = result("threads")["items"]
    assert thread["message_count"] == 2
    shown = CliRunner().invoke(app, ["mail", "thread", thread["thread_id"]])
    assert "Cleo Dahl" in shown.stdout
    assert result("check")["holds"]
    [source] = result("sources")["items"]
    assert (source["name"], source["status"]) == ("a-list", "ok")
