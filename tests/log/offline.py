"""The stand-alone verifier as an auditor runs it: isolated, so that Mnemon cannot be imported even by mistake."""

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "verify" / "mnemon_verify.py"


def run(*arguments: str | Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-I", "-S", PROGRAM, *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr
