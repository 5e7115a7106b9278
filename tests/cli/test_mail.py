"""`mnemon mail` as a person or a script runs it: an import does its own work where no worker runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mnemon.cli.mail.consensus import print_report
from mnemon.cli.main import app
from mnemon.cli.output import console
from mnemon.errors import NotFound
from mnemon.mail.errors import SourceRefused
from mnemon.reports.operations import ReportShown
from tests.mail.conftest import message, write_mbox


@pytest.fixture(autouse=True)
def environment(served_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMON_HOME", str(served_home))
    monkeypatch.setenv("MNEMON_EMBEDDER", "none")
    monkeypatch.setenv("MNEMON_DATABASE_LINGER_SECONDS", "5")


def result(*words: str) -> Any:
    done = CliRunner().invoke(app, ["mail", *words, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_import_then_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = write_mbox(tmp_path / "list.mbox", [message(1, "Shall we?\n"), message(2, "> Shall we?\n\nYes.\n", to=1)])
    monkeypatch.chdir(tmp_path)
    [done] = result("import", "list.mbox", "--name", "a-list")["imports"]
    assert (done["status"], done["counts"]["new"]) == ("succeeded", 2)
    assert not result("import", str(archive), "--name", "a-list")["imports"], "nothing is new"
    [thread] = result("threads")["items"]
    assert thread["message_count"] == 2
    shown = CliRunner().invoke(app, ["mail", "thread", thread["thread_id"]])
    assert "Cleo Dahl" in shown.stdout
    assert result("check")["holds"]
    [hit] = result("search", "shall", "we")["items"]
    assert hit["passage"]["text"].strip() == "Shall we?", "passages are made before the command ends"
    [source] = result("sources")["items"]
    assert (source["name"], source["status"], source["location"]) == ("a-list", "ok", str(archive))
    gone = CliRunner().invoke(app, ["mail", "import", "none.mbox"])
    assert isinstance(gone.exception, SourceRefused) and "There is nothing at" in gone.exception.message


def test_what_is_no_mail_is_told_and_fails(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("What we did on Monday.\n\nNothing.\n")
    refused = CliRunner().invoke(app, ["mail", "import", str(notes), "--name", "notes"])
    assert refused.exit_code == 1
    assert "no archive of mail" in refused.output
    assert "remove-source notes" in refused.output


def test_a_report_of_a_list_that_is_none_names_those_that_are(tmp_path: Path) -> None:
    result("import", str(write_mbox(tmp_path / "named.mbox", [message(1, "Shall we?\n")])), "--name", "named")
    refused = CliRunner().invoke(app, ["mail", "report", "--list", "nolist"])
    assert isinstance(refused.exception, NotFound)
    assert "There is no list nolist" in refused.exception.message
    assert "list.lists.example.org" in refused.exception.message
    found = CliRunner().invoke(app, ["mail", "report", "--list", "list.lists.example.org", "--format", "text"])
    assert found.exit_code == 0


def test_a_webhook_is_added_with_a_secret_that_is_in_no_argument() -> None:
    words = ["webhooks", "add", "http://93.184.215.14/hook", "--name", "chat", "--own-secret", "--json"]
    added = CliRunner().invoke(app, words, input="s3cret" * 4 + "\n")
    assert added.exit_code == 0, added.output
    assert json.loads(added.stdout)["secret"] == "s3cret" * 4
    assert "chat" in CliRunner().invoke(app, ["webhooks", "list"]).stdout
    assert CliRunner().invoke(app, ["webhooks", "remove", "chat", "--yes"]).exit_code == 0


@pytest.mark.parametrize("on_a_screen", [True, False])
def test_a_report_on_a_screen_has_the_words_as_they_were_written(
    on_a_screen: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "_force_terminal", on_a_screen)
    content = "## \\[VOTE\\] Release\n\n- By Cleo \\<c2@example.org\\>\n"
    print_report(
        ReportShown(
            kind="thread", title="t", form="markdown", content=content, threads=1, sections=[], citations=[], dropped=0
        )
    )
    shown = capsys.readouterr().out
    assert shown == ("## [VOTE] Release\n\n- By Cleo <c2@example.org>\n" if on_a_screen else content)
