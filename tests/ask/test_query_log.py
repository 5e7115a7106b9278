"""The record of questions is known wherever Mnemon is opened."""

import subprocess
import sys

from tests.patience import PATIENCE

SCRIPT = """
import mnemon.app
from mnemon.log.types.event_type import built_in_types
assert "question.asked" in {one.type for one in built_in_types()}
"""


def test_a_program_that_only_opens_mnemon_can_record_questions() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
