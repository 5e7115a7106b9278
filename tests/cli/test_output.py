"""What commands print is whole, wherever it goes."""

from io import StringIO

import pytest
from rich.console import Console

from mnemon.cli import output

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
