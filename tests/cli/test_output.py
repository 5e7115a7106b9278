"""What commands print is whole, wherever it goes."""

from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from rich.console import Console

from mnemon.ask.citations import Citation
from mnemon.ask.frames import ENGLISH
from mnemon.cli import output
from mnemon.cli.asking import shown

ROWS = [("billing", "ledger.entry.posted", "ValueError: " + "very " * 40 + "long"), ("a" * 50, "b", None)]


def printed(console: Console, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(output, "console", console)
    output.table(["Name", "Type", "Error"], ROWS, "Nothing.")
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_a_file_or_a_program_gets_each_row_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(Console(file=StringIO(), width=80, soft_wrap=True), monkeypatch)
    assert [line.split() for line in lines] == [["Name", "Type", "Error"]] + [
        " ".join(cell or "-" for cell in row).split() for row in ROWS
    ]


def test_on_a_narrow_screen_nothing_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Console(file=StringIO(), width=40, soft_wrap=True, force_terminal=True, color_system=None)
    lines = printed(screen, monkeypatch)
    assert max(map(len, lines)) <= 40
    assert "…" not in "".join(lines)
    told = "".join(lines)
    assert told.count("a") >= 50
    assert told.count("very") == 40


def test_an_empty_table_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(file=StringIO())
    monkeypatch.setattr(output, "console", console)
    output.table(["Name"], [], "Nothing.")
    assert console.file.getvalue() == "Nothing.\n"  # type: ignore[attr-defined]


def test_a_citation_is_a_link_where_the_terminal_knows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    cited = Citation(
        doc_id=UUID(int=1), doc_version_id=UUID(int=2), version_number=1, start=3, end=9, quote="a quote",
        title="Minutes", source_uri="file:///tmp/my notes/minutes.md#of=x", speaker=None, headings=[], first_page=None,
        last_page=None, written_at=None, line=None, event_id=None, said_on=None,
    )  # fmt: skip

    def told(console: Console) -> str:
        monkeypatch.setattr(output, "console", console)
        shown._print_source(1, cited, ENGLISH)
        assert isinstance(console.file, StringIO)
        return console.file.getvalue()

    monkeypatch.delenv("MNEMON_SERVER", raising=False)
    screen: dict[str, Any] = {
        "width": 200,
        "highlight": False,
        "soft_wrap": True,
        "force_terminal": True,
        "color_system": "standard",
    }
    assert "file:///tmp/my%20notes/minutes.md\x1b\\[1] Minutes" in told(Console(file=StringIO(), **screen))
    monkeypatch.setenv("MNEMON_SERVER", "https://mnemon.example.org/")
    there = f"https://mnemon.example.org/evidence/{UUID(int=2)}/3-9\x1b\\"
    assert told(Console(file=StringIO(), **screen)).count(there) == 2
    plain = told(Console(file=StringIO(), soft_wrap=True))
    assert "\x1b" not in plain and f"\n    https://mnemon.example.org/evidence/{UUID(int=2)}/3-9\n" in plain
    monkeypatch.delenv("MNEMON_SERVER")
    assert "\n    /tmp/my notes/minutes.md\n" in told(Console(file=StringIO(), soft_wrap=True)), "a path for people"
