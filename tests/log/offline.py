"""The stand-alone verifier as an auditor runs it: isolated, so that Mnemon cannot be imported even by mistake."""

import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE

PROGRAM = Path(__file__).parents[2] / "verify" / "mnemon_verify.py"


def run(*arguments: str | Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", PROGRAM, *arguments], capture_output=True, text=True, timeout=PATIENCE
    )
    return done.returncode, done.stdout + done.stderr
