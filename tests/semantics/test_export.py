"""Claims about exports: nothing in a document is taken for a formula of the table or for markup of the page."""

import csv
import re

import pytest

from mnemon.semantics.search.export import as_csv, as_markdown


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "  =", "\t=", "\r=", "\n+", "\u00a0=", "\uff1d", " \uff20"])
def test_no_cell_of_a_table_begins_a_formula_or_another_line(sign: str) -> None:
    names = ("event_id", "category", "status", "happened_at", "due", "confidence", "artifact_uid", "revision_id")
    event = dict.fromkeys((*names, "narrative", "title"), f"{sign}SUM\r(1)\n")
    people = {"subject": {"ref": f"{sign}SUM(1)"}, "actors": [{"ref": f"{sign}SUM(1)", "role": "owner"}]}
    table = as_csv([event | people | {"evidence": [{"quote": "a=b\r\nc"}]}])
    [_, row] = table.splitlines()
    *cells, quotes = next(csv.reader([row]))
    assert [cell[:1] for cell in cells] == ["'"] * 12
    assert quotes == "a=b c", "what is no formula stays as it is"


def test_markdown_tells_the_state_and_takes_no_markup_from_a_document() -> None:
    hostile = "# We *use* [this](http://x) `code` <img> |a|\n> not \\\\ _that_"
    event = {
        "event_id": "evt_0", "category": "Commitment", "narrative": hostile, "title": hostile, "status": "done",
        "happened_at": "2026-03-02T00:00:00Z", "due": "2026-03-09", "actors": [{"ref": "*Ada*", "role": "owner"}],
        "evidence": [{"quote": hostile}],
    }  # fmt: skip
    text = as_markdown([event])
    assert "(2026-03-02, \\*Ada\\*, due 2026-03-09, done)" in text
    lines = [line for line in text.splitlines() if "http://x" in line]
    assert len(lines) == 3, "each stays on its own line"
    for line in lines:
        written = line.removeprefix("- **").removeprefix("  > ").replace("** (", " (").replace("`evt_0`", "")
        assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]<>#|]", written), line
