"""`mnemon search` and `mnemon ask` print passages, answers and refusals."""

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mnemon.cli.main import app

MINUTES = "The board approved the budget of 40,000 euros on 3 May.\n\nThe violin concert was moved to June.\n"


@pytest.fixture
def command(served_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """A home with one document in it, read by `mnemon add`."""
    monkeypatch.setenv("MNEMON_HOME", str(served_home))
    monkeypatch.setenv("MNEMON_EMBEDDER", "none")
    monkeypatch.setenv("MNEMON_DATABASE_LINGER_SECONDS", "0")
    file = tmp_path / "minutes.txt"
    file.write_text(MINUTES)
    runner = CliRunner()
    added = runner.invoke(app, ["add", str(file)], catch_exceptions=False)
    assert added.exit_code == 0, added.output
    return runner


@pytest.mark.slow
def test_a_file_is_added_found_asked_about_and_refused(command: CliRunner, tmp_path: Path) -> None:
    found = command.invoke(app, ["search", "budget", "approved", "--json"], catch_exceptions=False)
    hit = json.loads(found.stdout)["items"][0]
    assert MINUTES[hit["snippet"]["start"] : hit["snippet"]["end"]] == hit["snippet"]["text"]
    shown = command.invoke(app, ["search", "budget", "--explain"], catch_exceptions=False)
    assert "words_nearby" in shown.stdout

    answered = command.invoke(app, ["ask", "When", "was", "the", "budget", "approved?"], catch_exceptions=False)
    assert "40,000 euros on 3 May. [1]" in answered.stdout
    assert f"    {tmp_path / 'minutes.txt'}\n" in answered.stdout and "/v1/" not in answered.stdout
    assert "mnemon open 1" in answered.stdout

    answer = tmp_path / "answer.html"
    query = answered.stdout.partition("mnemon receipt ")[2].split()[0]
    told = command.invoke(app, ["receipt", query, "-o", str(answer)], catch_exceptions=False).stdout
    checking = told.partition("Check it offline: ")[2].split()
    checked = subprocess.run(checking, cwd=tmp_path, capture_output=True, text=True)
    assert checked.stdout.startswith("all holds"), "what is told to run works from any folder"

    refused = command.invoke(app, ["ask", "Which", "submarine", "sank", "in", "Peru?"], catch_exceptions=False)
    assert refused.stdout.startswith("No answer.")

    # What was remembered is opened by its number too.
    command.invoke(app, ["remember", "The spare key hangs in the shed."], catch_exceptions=False)
    kept = command.invoke(app, ["ask", "Where", "does", "the", "spare", "key", "hang?"], catch_exceptions=False)
    assert kept.stdout.startswith("The spare key hangs in the shed. [1]\n\n[1] memory ")
    opened = command.invoke(app, ["open", "1"], catch_exceptions=False).stdout
    assert "The spare key hangs in the shed." in opened

    # Without words each line is a question, and a follow-up leans on the one before.
    lines = "When was the budget approved?\nand by whom?\n\n"
    talked = command.invoke(app, ["ask"], input=lines, catch_exceptions=False)
    assert talked.stdout.count("40,000 euros on 3 May. [1]") == 2
    assert "Asked as: and by whom (budget approved)?" in " ".join(talked.stdout.split())
