"""`mnemon remember`, `recall`, `forget`, `status` and `open`: the short commands."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from mnemon.cli.main import app
from mnemon.errors import InvalidRequest


@pytest.fixture(autouse=True)
def environment(served_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMON_HOME", str(served_home))
    monkeypatch.setenv("MNEMON_DATABASE_LINGER_SECONDS", "5")
    monkeypatch.setenv("MNEMON_EMBEDDER", "none")


def mnemon(*words: str) -> Result:
    return CliRunner().invoke(app, [*words], env={"COLUMNS": "200"})


def result(*words: str) -> Any:
    done = mnemon(*words, "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.stdout)


def test_a_thought_is_kept_found_and_forgotten() -> None:
    kept = result("remember", "Refunds", "over", "500 EUR need the treasurer.", "--tag", "finance")
    assert [one["emo_id"] for one in result("recall", "treasurer", "refunds")] == [kept["emo_id"]]
    shown = mnemon("recall", "treasurer").stdout
    assert shown.startswith("1. Refunds over 500 EUR need the treasurer.") and kept["emo_id"] in shown
    asked = CliRunner().invoke(app, ["forget", kept["emo_id"]], input="n\n")
    assert asked.exit_code == 1, "a person is asked first"
    question = f"Forget “Refunds over 500 EUR need the treasurer.” ({kept['emo_id']})? [y/N]: "
    assert asked.stderr.startswith(question), "by the words, not by the id alone"
    assert mnemon("forget", kept["emo_id"]).exit_code == 1, "nothing said is no yes"
    assert result("forget", kept["emo_id"], "--yes")["emo_id"] == kept["emo_id"]
    assert result("recall", "treasurer") == []
    assert "Nothing of that was remembered." in mnemon("recall", "treasurer").stdout


def test_a_thought_is_forgotten_by_words_that_stand_in_it_alone() -> None:
    boiler = result("remember", "The boiler room key hangs behind the bar.")
    result("remember", "The pump room key is with Ada.")
    both = mnemon("forget", "room key", "--yes").exception
    assert isinstance(both, InvalidRequest) and both.message.startswith("'room key' stands in 2 of them: ")
    asked = CliRunner().invoke(app, ["forget", "boiler room"], input="n\n")
    assert asked.stderr.startswith(f"Forget “The boiler room key hangs behind the bar.” ({boiler['emo_id']})?")
    assert result("forget", "Boiler room", "--yes")["emo_id"] == boiler["emo_id"]
    nothing = mnemon("forget", "boiler room", "--yes").exception
    assert isinstance(nothing, InvalidRequest) and "is not the id" in nothing.message


def test_status_says_what_works_and_what_there_is() -> None:
    before = result("status")["memories"]
    result("remember", "The lighthouse is white.")
    told = result("status")
    assert told["ok"] and told["memories"] == before + 1 and told["parts"]["database"]["ok"]
    assert "documents" in mnemon("status").stdout


def test_a_number_of_the_last_answer_is_opened(tmp_path: Path) -> None:
    file = tmp_path / "crane.txt"
    file.write_text("The crane was painted green in March. Nobody liked it.\n")
    assert mnemon("add", str(file)).exit_code == 0
    assert mnemon("search", "crane painted").exit_code == 0
    opened = mnemon("open", "1").stdout
    assert "⟦The crane was painted green in March." in opened and "Nobody liked it." in opened
    refused = mnemon("open", "99")
    assert isinstance(refused.exception, InvalidRequest) and "no number 99" in refused.exception.message


@pytest.mark.parametrize("words", ["", "   \n"])
def test_nothing_is_not_remembered(words: str) -> None:
    before = result("status")["memories"]
    refused = mnemon("remember", words)
    assert isinstance(refused.exception, InvalidRequest)
    assert refused.exception.message.startswith("There is nothing to remember: ")
    assert result("status")["memories"] == before


def test_what_is_no_id_is_named_with_what_to_do() -> None:
    refused = mnemon("forget", "nonsense", "--yes")
    assert isinstance(refused.exception, InvalidRequest)
    assert refused.exception.message.startswith("“nonsense” is not the id of something remembered: recall it")


def test_what_is_opened_begins_with_a_whole_word(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    file.write_text("Nothing happened at the breakwater. " * 40 + "\n\nThe buoy was painted orange in May.\n")
    assert mnemon("add", str(file)).exit_code == 0
    assert mnemon("search", "buoy painted orange").exit_code == 0
    opened = mnemon("open", "1").stdout.replace("\n", " ")
    shown = opened[opened.index("… ") + 2 :].split()
    assert shown[0] in ["Nothing", "happened", "at", "the", "breakwater."] and "⟦" in opened
