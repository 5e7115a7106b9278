"""The contract suites use the log, the sealed log and the REST client of the suites of those rooms.

What is built of the repository is built once, and the wheel is installed once for all who try it.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.api.conftest import admin, caller_address, client, mnemon, settings, user
from tests.conftest import new_folder
from tests.log.conftest import fresh_log, log, privacy
from tests.web.conftest import browser

__all__ = ["admin", "browser", "caller_address", "client", "fresh_log", "log", "mnemon", "privacy", "settings", "user"]

ROOT = Path(__file__).parents[2]


@pytest.fixture
def plain() -> Iterator[dict[str, str]]:
    """The environment of somebody to whom neither Mnemon nor this Python's packages are known."""
    yield {name: value for name, value in os.environ.items() if not name.startswith(("MNEMON_", "PYTHON"))}


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run(build, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def installed(built: Path, open_folder: Path) -> Path:
    """The wheel alone, in a folder that everyone may read."""
    folder = new_folder(open_folder, "installed")
    (wheel,) = built.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", folder / "mnemon", wheel], check=True)
    return folder / "mnemon"
