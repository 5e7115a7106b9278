"""`mnemon memory` as a person or a script runs it."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from mnemon.cli.main import app
from mnemon.errors import InvalidRequest
from mnemon.memory.errors import MemoryNotFound, MergeConflicts


@pytest.fixture(autouse=True)
def environment(served_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMON_HOME", str(served_home))
    monkeypatch.setenv("MNEMON_DATABASE_LINGER_SECONDS", "5")
    monkeypatch.setenv("MNEMON_EMBEDDER", "none")


def mnemon(*words: str) -> Result:
    return CliRunner().invoke(app, ["memory", *words], env={"COLUMNS": "200"})


def result(*words: str) -> Any:
    done = mnemon(*words, "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.stdout)


def editor(home: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """An editor that does what the script says to its file."""
    path = home / "editor.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("VISUAL", str(path))
    monkeypatch.setenv("EDITOR", str(path))


def test_an_object_from_create_to_restore(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = result("create", "--content", "one\ntwo\n", "--type", "fact", "--tag", "numbers")
    emo_id = first["emo_id"]
    other = result("create", "--content", "elephant\n")["emo_id"]
    assert result("edit", emo_id, "--content", "one\n2\n", "--why", "digits")["emo_version"] == 2
    assert result("link", emo_id, "--derived", other, "--uri", "https://example.org")["emo_version"] == 3
    assert [one["operation"] for one in result("history", emo_id)] == ["created", "updated", "linked"]
    assert result("diff", emo_id, "--from", "1", "--to", "2")["content"]["hunks"] == [
        {"line": 1, "removed": ["two\n"], "added": ["2\n"]}
    ]
    assert "-two\n+2\n" in mnemon("diff", emo_id, "--from", "1").stdout
    assert result("show", emo_id, "--as-of", "v1")["content"] == "one\ntwo\n"
    assert [one["emo_id"] for one in result("list", "--type", "fact")] == [emo_id]
    assert [one["emo_id"] for one in result("list", "elephants")] == [other]
    assert result("delete", emo_id, "--why", "old")["emo_version"] == 4
    assert isinstance(mnemon("show", emo_id).exception, MemoryNotFound)
    assert result("restore", emo_id)["emo_version"] == 5
    editor(home, monkeypatch, 'echo three >> "$1"')
    assert result("edit", emo_id)["content"] == "one\n2\nthree\n"
    editor(home, monkeypatch, "true")
    assert isinstance(mnemon("edit", emo_id).exception, InvalidRequest)
    assert "flowchart LR" in mnemon("graph").stdout
    assert "<graphml" in mnemon("graph", other, "--format", "graphml").stdout
    assert result("graph", "--check") == {"invalid_edges": [], "circular": []}
    assert result("compact", emo_id)[0]["emo_version"] == 6
    report = result("replay", "--verify")
    assert report["same"] and report["objects"] == 2


def test_a_branch_from_begin_to_merge(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    emo_id = result("create", "--content", "one\ntwo\n")["emo_id"]
    assert result("branch", "try", "--purpose", "a test")["status"] == "open"
    result("edit", emo_id, "--content", "one\nTHEIRS\n", "--branch", "try")
    result("edit", emo_id, "--content", "one\nOURS\n")
    assert [one["branch"] for one in result("branch")] == ["try"]
    compared = result("branch", "try", "--compare")
    assert [clash["field"] for clash in compared[0]["conflicts"]] == ["content"]
    assert isinstance(mnemon("merge", "try").exception, MergeConflicts)
    editor(home, monkeypatch, 'printf "one\\nBOTH\\n" > "$1"')
    assert result("merge", "try", "--edit")["branch"]["status"] == "merged"
    assert result("show", emo_id)["content"] == "one\nBOTH\n"
    result("branch", "other")
    assert result("branch", "other", "--abandon")["status"] == "abandoned"
