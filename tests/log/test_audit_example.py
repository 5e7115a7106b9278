"""The auditor's guide: its files hold, and its lines of Python run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guide" / "audit.md").read_text(encoding="utf-8")


def test_the_commands_of_the_guide_say_that_all_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    commands = re.findall(r"^python3 verify/.*$", GUIDE, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=PATIENCE)
        assert (done.returncode, done.stdout) == (0, "all holds\n")


def test_the_python_of_the_guide_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    assert len(blocks) == 3
    done = subprocess.run(
        [sys.executable, "-I", "-c", "".join(blocks)], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr


def test_the_python_of_the_log_guide_runs(home: Path) -> None:
    guide = (ROOT / "docs" / "guide" / "log.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    program = block.replace("/var/tmp/mnemon-log-example", str(home))
    assert program != block
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (0, "2 {'amount': 120}\n"), done.stderr
