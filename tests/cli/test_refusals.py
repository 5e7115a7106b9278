"""Refusals name what was typed, and where ids are shown."""

import re

import pytest
from typer.testing import CliRunner

from mnemon.cli.binding.refusals import SHOWN_BY
from mnemon.cli.catalogue import load
from mnemon.cli.main import app
from mnemon.errors import InvalidRequest


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["ask", "who?", "--from", "2026-13-45"], "--from: '2026-13-45' is neither a day"),
        (["events", "search", "--from", "2026-13-45"], "--from: '2026-13-45' is neither a day"),
        (["ask", "who?", "--from", "2026-09-01", "--to", "2026-08-01"], "is after 2026-08-01, where the span"),
        (["events", "search", "--from", "2026-09-01", "--to", "2026-08-01"], "exchange the two."),
        (["events", "commitments", "--due-before", "soon"], "--due-before: 'soon' is not a day"),
        (["events", "mark", "shift plan", "done"], "EVENT_ID: is not an id of this kind: they begin with evt_; "),
        (["events", "show", "shift plan"], "`mnemon events list` and `mnemon events commitments` show them"),
    ],
    ids=" ".join,
)
def test_a_refusal_names_what_was_typed_and_where_ids_are_shown(words: list[str], says: str) -> None:
    refused = CliRunner().invoke(app, words).exception
    assert isinstance(refused, InvalidRequest)
    assert says in refused.message


def test_programs_read_the_declared_name() -> None:
    refused = CliRunner().invoke(app, ["ask", "who?", "--from", "2026-13-45"]).exception
    assert isinstance(refused, InvalidRequest)
    assert refused.details["problems"][0]["field"] == "from_date"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["recall"], "Missing argument 'QUERY'. Example: mnemon recall"),
        (["add"], "Example: mnemon add ~/minutes"),
        (["mcp", "install"], "Example: mnemon mcp install cursor"),
        (["artifact", "list"], "There are: add, show, revisions"),
    ],
    ids=" ".join,
)
def test_what_is_missing_on_the_line_is_told_with_an_example(words: list[str], says: str) -> None:
    refused = CliRunner().invoke(app, words, env={"COLUMNS": "300"})
    assert refused.exit_code == 2
    assert says in refused.stderr


def test_the_commands_that_show_ids_exist() -> None:
    for told in SHOWN_BY.values():
        for group, name in re.findall(r"`mnemon (\w+) (\w+)", told):
            assert name in load(group).commands, told
