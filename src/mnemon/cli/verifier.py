"""Where the verifier is that shares no code with Mnemon."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def verifier() -> Path:
    """Inside the installed package, or beside it where the package is used from its repository."""
    installed = PACKAGE / "verify" / "mnemon_verify.py"
    return installed if installed.is_file() else PACKAGE.parents[1] / "verify" / "mnemon_verify.py"
