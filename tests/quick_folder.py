"""Where the files of test servers lie: in memory where there is plenty, since on a busy disk everybody waits."""

import os
import re
import shutil
import tempfile
from pathlib import Path

IN_MEMORY = Path("/dev/shm")
# A whole run leaves 3 GB in two processes; who has less than this to spare keeps its memory.
ENOUGH = 8 << 30


def new_quick_folder() -> Path:
    """Named after this process, so that the next run can tell what a killed one has left in memory."""
    parent = IN_MEMORY if _has_room() else Path(tempfile.gettempdir())
    for left in parent.glob("mnemon-test-*-*"):
        owner = left.name.split("-")[2]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"mnemon-test-{os.getpid()}-", dir=parent))


def _has_room() -> bool:
    try:
        there = os.statvfs(IN_MEMORY)
        free = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        return False
    # Programs are copied there too, and run.
    runs = not there.f_flag & os.ST_NOEXEC
    return runs and free is not None and min(int(free[1]) << 10, there.f_bavail * there.f_frsize) >= ENOUGH
