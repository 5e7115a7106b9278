"""Refusals name what was typed, and where ids are shown."""

import pytest
from typer.testing import CliRunner

from mnemon.cli.main import app
from mnemon.errors import InvalidRequest


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["ask", "who?", "--from", "2026-13-45"], "--from: '2026-13-45' is neither a day"),
        (["events", "search", "--from", "2026-13-45"], "--from: '2026-13-45' is neither a day"),
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
