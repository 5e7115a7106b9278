"""How `mnemon` ends when somebody stops it."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mnemon.cli.main import app
from tests.cli.conftest import mnemon


def _interrupted(work: Coroutine[Any, Any, Any]) -> None:
    work.close()
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("ask", "Who?"), "Stopped.\n"),
        (("events", "list"), "Stopped.\n"),
        (("mail", "import", "list.mbox"), "Stopped. What is stored stays; `mnemon serve` or `mnemon work` goes on"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_whoever_stops_a_command_is_told_so(
    words: tuple[str, ...], says: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asyncio, "run", _interrupted)
    done = mnemon({"MNEMON_HOME": str(tmp_path_factory.mktemp("stopped") / "home")}, *words)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.startswith(says)


def test_help_and_readme_begin_with_the_same_command() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    told = " ".join(CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).stdout.split())
    assert "Start with mnemon add FOLDER and mnemon ask" in told
    assert "mnemon add FOLDER && " in readme
