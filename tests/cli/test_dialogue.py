"""`mnemon ask` without words, on a terminal of its own."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.patience import PATIENCE


def read_until(terminal: int, words: str) -> str:
    """What the terminal shows, up to these words or to its end."""
    shown, end = "", time.monotonic() + PATIENCE
    while words not in shown and time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            more = os.read(terminal, 65_536)
        except OSError:
            break
        if not more:
            break
        shown += more.decode(errors="replace")
    return shown


def dialogue(home: Path) -> tuple[subprocess.Popen[bytes], int]:
    ours, theirs = pty.openpty()
    settings = {"MNEMON_HOME": str(home), "MNEMON_EMBEDDER": "none", "MNEMON_DATABASE_LINGER_SECONDS": "0"}
    process = subprocess.Popen(
        [sys.executable, "-m", "mnemon", "ask"], stdin=theirs, stdout=theirs, stderr=theirs,
        env={**os.environ, **settings, "TERM": "dumb"}, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    return process, ours


def test_ctrl_c_leaves_the_dialogue_at_once(served_home: Path) -> None:
    process, terminal = dialogue(served_home)
    assert "? " in read_until(terminal, "? ")
    begun = time.monotonic()
    # What a terminal sends to the program in front of it.
    process.send_signal(signal.SIGINT)
    assert "Stopped." in read_until(terminal, "Stopped.")
    assert process.wait(PATIENCE) == 130
    # The database of this home ends with its last user, which takes a moment.
    assert time.monotonic() - begun < PATIENCE / 2
    os.close(terminal)


def test_a_question_is_answered_and_an_empty_line_ends(served_home: Path) -> None:
    process, terminal = dialogue(served_home)
    read_until(terminal, "? ")
    os.write(terminal, b"Which submarine sank in Peru?\n")
    assert "No answer." in read_until(terminal, "\r\n? ")
    os.write(terminal, b"\n")
    read_until(terminal, "never shown")
    assert process.wait(PATIENCE) == 0
    os.close(terminal)
