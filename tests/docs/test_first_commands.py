"""Each guide begins with a command that works as it is printed."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import mnemon, own_logging
from tests.conftest import MakeHome, new_folder
from tests.docs.test_guide_commands import ROOT
from tests.documents.pdf_samples import lines, pdf
from tests.patience import PATIENCE

from mnemon.db.embedded import EmbeddedServer

__all__ = ["own_logging"]
FIRST = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MINUTES = "The board approved the budget of 40,000 euros on 3 May.\n\nWe decided to keep the old prices.\n"
# What stands there until it is stopped: tests of the server and of workers start it.
LASTING = ("serve", "work")


def first_of(page: Path) -> tuple[str, str]:
    """The language of the first block, and its first command or all of its Python."""
    found = FIRST.search(page.read_text(encoding="utf-8"))
    assert found is not None, page.name
    language, block = found[1], found[2].replace("\\\n", " ")
    return language, block if language == "python" else block.splitlines()[0].removeprefix("$ ")


GUIDES = {page.stem: first_of(page) for page in sorted((ROOT / "docs" / "guide").glob("*.md"))}
PYTHON = [name for name, (language, _) in GUIDES.items() if language == "python"]
BY_SHELL = [name for name, (language, said) in GUIDES.items() if language != "python" and "mnemon " not in said]
OURS = [name for name in GUIDES if name not in (*PYTHON, *BY_SHELL)]


def words_of(command: str) -> list[str]:
    return shlex.split(command.partition("mnemon ")[2], comments=True)


@pytest.fixture(scope="module")
def place(open_folder: Path, make_home: MakeHome) -> Iterator[dict[str, str]]:
    """A home with one document, in a folder with the files that the guides name."""
    folder = new_folder(open_folder, "guides")
    (folder / "own" / "minutes").mkdir(parents=True)
    (folder / "own" / "minutes" / "may.txt").write_text("Ada will write the report by Friday.\n")
    (folder / "examples").symlink_to(ROOT / "examples")
    for name in ("minutes.txt", "minutes.md"):
        (folder / name).write_text(MINUTES)
    (folder / "policy.pdf").write_bytes(pdf(lines("Trains only.")))
    (folder / "home").mkdir()
    # Held until the last command has ended: each would start one of its own.
    server = EmbeddedServer(make_home(folder / "home"), linger_seconds=0)
    server.ensure_running()
    environment = {
        "MNEMON_HOME": str(folder / "home"), "HOME": str(folder / "own"), "MNEMON_EMBEDDER": "none", "COLUMNS": "200",
        "MNEMON_PORT": "0",
    }  # fmt: skip
    added = mnemon(environment, "add", "minutes.txt")
    assert added.returncode == 0, added.stderr
    yield environment
    server.release()
    shutil.rmtree(folder, ignore_errors=True)


def test_every_guide_begins_with_something_to_run() -> None:
    languages = {name: language for name, (language, _) in GUIDES.items()}
    assert set(languages.values()) <= {"bash", "console", "python"}, languages
    assert len(OURS) > 20 and PYTHON == ["client"]


@pytest.mark.parametrize("guide", [name for name in OURS if words_of(GUIDES[name][1])[0] not in LASTING])
def test_the_first_command_of_a_guide_does_what_it_says(guide: str, place: dict[str, str]) -> None:
    words = [re.sub("^~", place["HOME"], word) for word in words_of(GUIDES[guide][1])]
    ended = mnemon(place, *words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert guide != "ask" or "40,000 euros on 3 May. [1]" in ended.stdout


@pytest.mark.parametrize("guide", PYTHON)
def test_the_first_lines_of_python_run(
    guide: str, place: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in place.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(Path(place["MNEMON_HOME"]).parent)
    exec(compile(GUIDES[guide][1], f"{guide}.md", "exec"), {})
    assert "on 3 May" in capsys.readouterr().out


@pytest.mark.parametrize("guide", BY_SHELL)
def test_the_first_line_for_a_shell_runs(guide: str) -> None:
    """Building takes a minute: whether what it makes can be installed is tested beside the package."""
    command = GUIDES[guide][1].replace("make build", "make --dry-run build")
    subprocess.run(["bash", "-c", command], cwd=ROOT, check=True, capture_output=True, timeout=PATIENCE)
