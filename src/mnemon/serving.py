"""Where a server of this home is reached while it runs: a small file that commands read for their links."""

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

FILE = "serving.json"


@contextmanager
def telling_address(home: Path, url: str) -> Iterator[None]:
    """For as long as the server runs. A home that cannot be written to is no reason not to serve."""
    file = home / FILE
    with contextlib.suppress(OSError):
        file.write_bytes(orjson.dumps({"url": url, "pid": os.getpid()}))
    try:
        yield
    finally:
        if _told(home).get("pid") == os.getpid():
            file.unlink(missing_ok=True)


def served_address(home: Path) -> str | None:
    """Of a server that still runs; one that was killed left its file behind."""
    told = _told(home)
    try:
        os.kill(int(told["pid"]), 0)
    except (KeyError, ValueError, ProcessLookupError):
        return None
    except PermissionError:
        pass
    return str(told["url"])


def _told(home: Path) -> dict[str, Any]:
    try:
        told = orjson.loads((home / FILE).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return told if isinstance(told, dict) and {"url", "pid"} <= told.keys() else {}
