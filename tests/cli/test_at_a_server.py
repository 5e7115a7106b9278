"""Commands at a running server: logging in by a pasted link, and numbers that are opened where they came from."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.patience import PATIENCE


@dataclass
class Running:
    home: Path
    url: str


def environment(home: Path) -> dict[str, str]:
    settings = {"MNEMON_HOME": str(home), "MNEMON_EMBEDDER": "none", "MNEMON_DATABASE_LINGER_SECONDS": "0"}
    return {**{name: one for name, one in os.environ.items() if not name.startswith("MNEMON_")}, **settings}


def mnemon(home: Path, *words: str, text: str = "", code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mnemon", *words], env=environment(home), input=text, capture_output=True, text=True,
        timeout=PATIENCE, cwd=home.parent,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def server(served_home: Path) -> Iterator[Running]:
    process = subprocess.Popen(
        [sys.executable, "-m", "mnemon", "serve", "--port", "0"], env=environment(served_home),
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout
        told = re.search(r"http://\S+:\d+", process.stdout.readline())
        assert told is not None
        yield Running(served_home, told[0])
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)


def test_a_pasted_link_logs_in_and_numbers_are_opened_where_they_came_from(server: Running, tmp_path: Path) -> None:
    elsewhere = tmp_path / "another-home"
    refused = mnemon(elsewhere, "login", server.url, text="not a token\n", code=1)
    assert "mnm_" in refused and "login link" in refused
    half = mnemon(elsewhere, "login", server.url, text=f"{server.url}/login\n", code=1)
    assert "paste the whole link" in half
    foreign = mnemon(elsewhere, "login", server.url, text="https://mnemon.example.org/login#secret\n", code=1)
    assert "https://mnemon.example.org" in foreign
    link = mnemon(server.home, "user", "link", "admin@localhost").split()[0]
    assert "Logged in" in mnemon(elsewhere, "login", server.url, text=f"{link}\n")

    file = tmp_path / "minutes.md"
    file.write_text("# Minutes\n\n## 2. Money\n\nThe board approved the budget of 40,000 euros on 3 May 2026.\n")
    mnemon(elsewhere, "--server", server.url, "add", str(file))
    answer = mnemon(elsewhere, "--server", server.url, "ask", "When was the budget approved?")
    assert "“2. Money”" in answer and f"{server.url}/evidence/" in answer
    assert f"mnemon --server {server.url} receipt " in answer
    told = re.search(r"mnemon (open 1)$", answer, re.MULTILINE)
    assert told is not None
    assert "⟦The board approved the budget" in mnemon(elsewhere, *told[1].split())
    assert "postgres" not in {one.name for one in elsewhere.iterdir()}, "no home is made for it"

    mnemon(elsewhere, "--server", server.url, "remember", "The spare key hangs in the shed.")
    kept = mnemon(elsewhere, "--server", server.url, "ask", "Where does the spare key hang?")
    assert "mnemon open 1" in kept
    assert "The spare key hangs in the shed." in mnemon(elsewhere, "open", "1")
