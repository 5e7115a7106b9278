"""On a narrow screen help shows options whole."""

import pytest
from typer.testing import CliRunner

from mnemon.cli.main import app


def helped(*words: str) -> str:
    return CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80"}).stdout


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("artifact add", ["--visibility ", "--retention ", "--participant ", "--source ", "--wait ", "--no-wait "]),
        ("ask", ["--version ", "--artifact ", "--from "]),
        ("events list", ["--revision ", "--no-include-evidence ", "--limit "]),
        ("forget", ["--why ", "--branch ", "-b "]),
    ],
)
def test_options_are_shown_whole_by_the_name_that_people_know(words: str, names: list[str]) -> None:
    told = helped(*words.split())
    assert [name for name in names if name not in told] == []
    assert not [line for line in told.splitlines() if line.startswith("│ --") and "…" in line.split()[1]]


def test_the_declared_name_works_after_help_was_shown() -> None:
    helped("artifact", "add")
    done = CliRunner().invoke(app, ["artifact", "add", "--visibility-scope"])
    assert "requires an argument" in done.output


def test_what_turns_something_off_says_so() -> None:
    told = " ".join(helped("events", "list").replace("│", " ").split())
    assert "Do not add the quotes that prove each event." in told


def test_what_must_be_given_has_no_braces() -> None:
    assert "forget [OPTIONS] EMO_ID" in helped("forget")
