"""Where real mail for measuring is, if it is here."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("MNEMON_EVAL_DATA") or ROOT.parent / "shared" / "eval") / "mail"
if not FOLDER.is_dir():
    FOLDER = ROOT.parents[1] / "shared" / "eval" / "mail"
needs_mail = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no mail in {FOLDER}: set MNEMON_EVAL_DATA")
