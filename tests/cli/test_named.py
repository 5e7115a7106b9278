"""What people name on the line: documents and tokens by what they are called, values in the words of the command."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from mnemon.cli.main import app
from mnemon.errors import InvalidRequest, MnemonError, NotFound


@pytest.fixture(autouse=True)
def environment(served_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMON_HOME", str(served_home))
    monkeypatch.setenv("MNEMON_DATABASE_LINGER_SECONDS", "5")
    monkeypatch.setenv("MNEMON_EMBEDDER", "none")


def mnemon(*words: object, text: str | None = None) -> Result:
    return CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"}, input=text)


def told(*words: object, text: str | None = None) -> str:
    done = mnemon(*words, text=text)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def refusal(*words: object) -> str:
    done = mnemon(*words)
    assert isinstance(done.exception, MnemonError), (done.output, done.exception)
    return done.exception.message


def put(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def test_a_question_is_limited_to_a_document_by_its_title(tmp_path: Path) -> None:
    told("add", put(tmp_path, "travel.md", "# Travel\n\nTrains are booked two weeks ahead.\n"))
    told("add", put(tmp_path, "food.md", "# Food\n\nLunch is booked two days ahead.\n"))
    assert "Trains" in told("search", "booked ahead", "--document", "travel.md")
    assert "Lunch" not in told("search", "booked ahead", "--document", "Travel")
    assert "two weeks" in told("ask", "How long ahead are trains booked?", "--document", "travel")
    assert "travel.md" in told("runs", "list", "--document", "travel.md")
    assert (
        refusal("ask", "x", "--document", "nope") == "No document is called 'nope': `mnemon documents list` shows them."
    )


def test_of_documents_of_one_name_the_served_one_is_meant_and_folders_tell_the_others_apart(tmp_path: Path) -> None:
    one, two = (put(tmp_path / name, "keys.txt", f"The {name} key hangs here.\n") for name in ("front", "back"))
    told("add", one, two)
    both = refusal("documents", "show", "keys.txt")
    assert both.startswith("'keys.txt' may mean 2 documents: ") and both.endswith("Give the id of one.")
    assert str(one) in both and str(two) in both
    listed = json.loads(told("documents", "list", "keys", "--json"))["documents"]
    gone = next(item for item in listed if item["source_uri"] == two.as_uri())
    told("documents", "deactivate", gone["doc_id"])
    assert one.as_uri() in told("documents", "show", "keys.txt")
    asked = mnemon("documents", "purge", "keys.txt", text="n\n")
    assert "Destroy “keys.txt” (" in asked.stderr


def test_a_token_is_revoked_by_its_name() -> None:
    told("token", "add", "curl test")
    assert refusal("token", "revoke", "another") == "No token is called 'another': `mnemon token list` shows them."
    assert told("token", "revoke", "Curl Test") == "Revoked curl test.\n"
    told("token", "add", "twice")
    told("token", "add", "twice")
    both = mnemon("token", "revoke", "twice").exception
    assert isinstance(both, InvalidRequest) and both.message.startswith("'twice' may mean 2 tokens: ")


def test_what_is_no_id_is_told_with_its_value_and_where_ids_are() -> None:
    said = refusal("receipt", "nonsense")
    assert said.startswith("QUERY_ID: 'nonsense' is not an id: ") and "mnemon ask" in said
    missing = mnemon("events", "show", f"evt_{'0' * 32}").exception
    assert isinstance(missing, NotFound) and "mnemon events list" in missing.message


@pytest.mark.parametrize(
    "words, said",
    [
        (["--visibility", "everyone"], "Invalid --visibility: everyone. Must be one of: me, team, org, custom"),
        (["--retention", "2y"], "Invalid --retention: 2y. Must be one of: forever, 1y, until_resolved, custom"),
        (["--visibility", "custom"], "--visibility custom needs readers: name who may read it."),
    ],
    ids=["visibility", "retention", "readers"],
)
def test_a_refused_value_is_told_by_the_option(tmp_path: Path, words: list[str], said: str) -> None:
    assert refusal("add", put(tmp_path, "a.txt", "words"), *words) == said


def test_the_help_of_add_names_the_values_and_no_fields() -> None:
    shown = told("add", "--help")
    for words in ("me|team|org|custom", "forever|1y|until_resolved|custom", "With --retention custom"):
        assert words in shown, words
    assert "Default: its path" in shown and "everyone." not in shown and "retention_policy" not in shown


def test_an_option_of_another_command_is_told_with_that_command() -> None:
    said = mnemon("events", "list", "--category", "decision").stderr
    assert "mnemon events search" in " ".join(said.split()).replace(" │", "")


def test_an_edited_file_is_told_as_a_version_and_an_empty_folder_by_its_name(tmp_path: Path) -> None:
    note = put(tmp_path, "note.md", "We meet on Monday.\n")
    first = told("add", note)
    assert "Version" not in first
    note.write_text("We meet on Tuesday.\n")
    assert told("add", note).split()[-2:] == ["succeeded", "2"]
    assert json.loads(told("add", note, "--json"))["files"][0]["status"] == "skipped"
    empty = tmp_path / "nothing"
    empty.mkdir()
    assert told("add", empty) == f"No files in {empty}.\n"


def test_a_filter_that_leaves_nothing_is_named() -> None:
    assert "Nothing passes the filters: person Nobody." in told("ask", "Who came?", "--person", "Nobody")


def test_an_owner_is_the_one_who_gives_a_title(tmp_path: Path) -> None:
    note = put(tmp_path, "prices.md", "Tea costs two euros.\n")
    told("add", note)
    again: dict[str, Any] = json.loads(told("add", note, "--title", "Prices", "--json"))["files"][0]
    assert (again["status"], again["title"]) == ("skipped", "Prices")


def test_status_says_how_many_files_wait(tmp_path: Path) -> None:
    told("add", put(tmp_path, "later.md", "Not yet read.\n"), "--no-wait")
    assert "1 file taken in and not read yet: `mnemon work` reads them." in told("status")


def test_what_cannot_be_read_is_told_in_the_table_alone(tmp_path: Path) -> None:
    done = mnemon("add", put(tmp_path, "blank.txt", " \n\n"))
    assert "The file holds no text." in done.stdout and "job_ended" not in done.output


def test_what_was_verified_is_told_with_what_was_counted() -> None:
    assert "tables, columns, rules, functions and rights of the database" in told("verify")


def test_a_list_that_goes_on_says_so_without_a_cursor(tmp_path: Path) -> None:
    told(
        "add", put(tmp_path, "plan.md", "Ana will send the plan by Friday.\n\nBen will call the landlord on Monday.\n")
    )
    shown = told("events", "list", "--limit", "1")
    assert "--limit shows more" in shown and "--cursor" not in shown
