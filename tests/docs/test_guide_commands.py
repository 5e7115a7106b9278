"""Every command that the guides print is one that the program takes as it is printed: words, options and values."""

import re
import shlex
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from mnemon.cli.main import app

ROOT = Path(__file__).parents[2]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SHELL = ("", "console", "bash", "sh", "text")
LINE = re.compile(r"^(?:[A-Z_]+=\S+ )*((?:\S*\/)?mnemon(?: .*)?)$")
ID = "01890a5d-ac96-774b-bcce-b302099a8057"


def commands_in(page: Path) -> list[str]:
    """As printed, a line that goes on joined; what a shell does around them is left out."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    blocks = [block for language, block in found if language in SHELL]
    lines = (line for block in blocks for line in block.replace("\\\n", " ").splitlines())
    parts = (part.strip() for line in lines for part in re.split(r" && | \| |; ", line.removeprefix("$ ")))
    # What stands far behind a command says what it does.
    return [re.split(r"\s{2,}", match[1])[0] for part in parts if (match := LINE.match(part))]


PRINTED = [(page.name, command) for page in GUIDES for command in commands_in(page)]


@pytest.mark.parametrize(("page", "command"), PRINTED, ids=[f"{page} {command}"[:80] for page, command in PRINTED])
def test_a_printed_command_is_taken(page: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MNEMON_SERVER", raising=False)
    words = shlex.split(re.sub(r"\s[<>] ?\S+", "", command), comments=True)[1:]
    # Where a guide shortens an id, a whole one stands there.
    words = [ID if "…" in word and re.match(r"[0-9a-f]{4}", word) else word for word in words]
    command_of, above = get_command(app), None
    while isinstance(command_of, TyperGroup):
        above = command_of.context_class(command_of, info_name=command_of.name, parent=above)
        while words and words[0].startswith("-"):
            del words[: 2 if words[0] == "--server" else 1]
        if not words:
            return
        _, following, words = command_of.resolve_command(above, words)
        assert following is not None, f"{page}: {command}"
        command_of = following
    # Raises where an option is unknown, a value is none of its kind, or something is lacking.
    command_of.make_context(command_of.name, words, parent=above).close()


def test_every_guide_shows_how_to_begin() -> None:
    """With a command, a line of code or a request: not with a wall of words."""
    for page in GUIDES:
        first_lines = page.read_text(encoding="utf-8").splitlines()[:40]
        assert any(line.startswith("```") for line in first_lines), page.name
    assert len(PRINTED) > 100
