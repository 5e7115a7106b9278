"""`mnemon lens` and `mnemon log state` as a person or a script runs them."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mnemon.cli.main import app
from mnemon.log.append.incoming import DECISION, DECISION_TYPE


@pytest.fixture(autouse=True)
def environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMON_HOME", str(home))
    monkeypatch.setenv("MNEMON_DATABASE_LINGER_SECONDS", "5")


def result(*words: str) -> Any:
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_lenses_and_the_state_of_an_entity() -> None:
    listed = result("lens", "list")
    assert {one["name"] for one in listed["lenses"]} >= {"documents", "memory", "semantics"}
    assert result("lens", "rebuild", "documents", "--no-from-snapshot")["lens"] == "documents"
    assert result("lens", "verify", "documents")["matches"]
    shown = CliRunner().invoke(app, ["lens", "verify", "documents"])
    assert shown.stdout.startswith("documents is what the log gives: ")

    result("log", "register", json.dumps(DECISION_TYPE))
    first = result("log", "append", json.dumps(DECISION | {"data": DECISION["data"] | {"outcome": "postponed"}}))
    result("log", "append", json.dumps(DECISION))
    now = result("log", "state", "decision", "D-17")
    assert (now["state"]["outcome"], now["version"], now["consistency"]) == ("approved", 2, "strong")
    before = result("log", "state", "decision", "D-17", "--as-of", str(first["events"][0]["sequence"]))
    assert (before["state"]["outcome"], before["version"]) == ("postponed", 1)
    shown = CliRunner().invoke(app, ["log", "state", "decision", "D-17"])
    assert "approved" in shown.stdout and "After 2 events" in shown.stdout
