"""`from mnemon import connect`: ten lines on a home of this machine, and a command at a server."""

import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

import mnemon
from mnemon.cli.main import app
from mnemon.client.calls import ReadingFailed
from mnemon.client.failures import ServerUnreachable
from mnemon.client.remote import RemoteCalls
from mnemon.client.servers import address_of, keep_token, known_servers
from mnemon.errors import InvalidRequest, NotAuthenticated
from mnemon.log_operations import integrity
from tests.patience import PATIENCE


@pytest.fixture
def home(served_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MNEMON_HOME", str(served_home))
    monkeypatch.setenv("MNEMON_EMBEDDER", "none")
    monkeypatch.setenv("MNEMON_DATABASE_LINGER_SECONDS", "0")
    return served_home


def run_readme(folder: Path, minutes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    _, _, rest = page.partition("```python\n")
    (folder / "minutes.md").write_text(minutes)
    monkeypatch.chdir(folder)
    exec(compile(rest.partition("```")[0], "README.md", "exec"), {})


def test_the_python_of_the_readme_runs_as_printed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_readme(tmp_path, "The board approved the budget on 3 March 2026.\n", monkeypatch)
    said = capsys.readouterr().out
    assert "The board approved the budget on 3 March 2026." in said
    assert "Refunds over 500 EUR need the CFO's approval" in said


def test_the_python_of_the_readme_says_why_there_is_no_answer(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_readme(tmp_path, "The violin concert was moved to June.\n", monkeypatch)
    assert re.search(r"^No answer\. \w+", capsys.readouterr().out, re.MULTILINE)


def test_a_program_prints_what_it_prints_and_no_lines_of_our_log(home: Path, tmp_path: Path) -> None:
    (tmp_path / "minutes.md").write_text("The board approved the budget on 3 March 2026.\n")
    program = """
from mnemon import connect
with connect() as memory:
    memory.add("minutes.md")
    print(memory.ask("When was the budget approved?").text)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.stdout, done.stderr) == ("The board approved the budget on 3 March 2026.\n", "")


def test_ten_lines_on_a_home_of_this_machine(home: Path, tmp_path: Path) -> None:
    note = tmp_path / "minutes.md"
    note.write_text("# Weekly\n\nThe board approved the budget of 40,000 euros on 3 May.\n")
    with mnemon.connect() as memory:
        taken = memory.add(note)
        answer = memory.ask("When was the budget approved?")
        assert "3 May" in answer.text and answer.citations[0].doc_id == taken.doc_id
        assert [name for name, _ in memory.ask_in_steps("When was the budget approved?")][-1] == "done"
        assert memory.search("budget")[0].title
        memory.remember("Refunds need the treasurer.")
        with pytest.raises(InvalidRequest, match="nothing to remember"):
            memory.remember(" ")
        with pytest.raises(InvalidRequest, match="“nonsense” is not the id"):
            memory.forget("nonsense")
        assert memory.recall("treasurer")[0].content == "Refunds need the treasurer."
        assert memory.events() is not None
        assert next(memory.subscribe("tests"))["type"] == "identity.tenant.added"
        memory.call(integrity.checkpoint, integrity.CheckpointWanted())
        seen = memory.verify_consistency()
        assert memory.verify_consistency(seen).count >= seen.count
        broken = tmp_path / "broken.pdf"
        broken.write_bytes(b"%PDF-1.7 nothing more")
        with pytest.raises(ReadingFailed):
            memory.add(broken)
    assert not any(thread.name == "mnemon" for thread in threading.enumerate())
    with pytest.raises(RuntimeError, match="not open"):
        memory.ask("Anything?")


def test_a_forgotten_scheme_makes_no_home_in_the_folder_one_stands_in(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for target, says in {
        "nonsense": "write 'https://nonsense' for a server, or './nonsense' to begin a new home",
        "mnemon.example.org:8787": "write 'https://mnemon.example.org:8787' for a server",
        "ftp://example.org": "'ftp://example.org' is not an address",
    }.items():
        with pytest.raises(InvalidRequest) as refused, mnemon.connect(target):
            pass
        assert says in refused.value.message
    with pytest.raises(InvalidRequest, match="The token is for a server"), mnemon.connect(home, token="mnm_x"):
        pass
    monkeypatch.setenv("MNEMON_SERVER", "mnemon.example.org")
    with pytest.raises(InvalidRequest, match=r"'mnemon\.example\.org' is not an address"), mnemon.connect():
        pass
    assert [*tmp_path.iterdir()] == []


def test_any_operation_is_called_by_its_name_and_its_fields(home: Path, tmp_path: Path) -> None:
    with mnemon.connect() as memory:
        assert memory.call("documents.list", {"limit": 3}).total == 0
        assert memory.call("tokens.list") is not None
        wrong: dict[str, tuple[object, ...]] = {
            "'ask' is not an operation: give its name, such as 'documents.list'": ("ask", {"question": "x"}),
            "documents.list takes a .* or a dict of its fields, not str": ("documents.list", "all"),
            "colour: is not known here": ("documents.list", {"colour": "red"}),
        }
        for says, given in wrong.items():
            with pytest.raises(InvalidRequest, match=says):
                cast(Any, memory).call(*given)
        with pytest.raises(InvalidRequest, match=r"There is no file .*none\.md"):
            memory.add(tmp_path / "none.md")
        with pytest.raises(InvalidRequest, match="is a folder: add its files one by one, or run `mnemon add"):
            memory.add(tmp_path)


def test_addresses_and_tokens_are_kept_by_their_owner_alone(tmp_path: Path) -> None:
    assert address_of("http://127.0.0.1:8787/login") == "http://127.0.0.1:8787"
    assert address_of(" https://example.org/mnemon/ ") == "https://example.org/mnemon"
    for wrong in ("example.org", "ftp://example.org", "/home/ana"):
        with pytest.raises(InvalidRequest, match="is not an address"):
            address_of(wrong)
    keep_token(tmp_path / "new", "http://a.test", "one")
    keep_token(tmp_path / "new", "http://b.test", "two")
    keep_token(tmp_path / "new", "http://a.test", None)
    assert known_servers(tmp_path / "new") == {"http://b.test": "two"}
    assert (tmp_path / "new" / "servers.json").stat().st_mode & 0o077 == 0


def test_a_login_at_an_address_where_nobody_listens_asks_for_no_token(home: Path) -> None:
    nobody = CliRunner().invoke(app, ["login", "http://127.0.0.1:9"])
    assert isinstance(nobody.exception, ServerUnreachable) and "cannot be reached" in nobody.exception.message


def test_a_command_at_a_server_says_what_it_lacks(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMON_SERVER", "http://127.0.0.1:9")
    nobody = CliRunner().invoke(app, ["documents", "list"])
    assert isinstance(nobody.exception, NotAuthenticated) and "mnemon login" in nobody.exception.message
    monkeypatch.setenv("MNEMON_SERVER_TOKEN", "mnm_x")
    at_home = [["privacy", "rotate"], ["db", "backup"], ["db", "restore", "a.backup", "--replace"], ["db", "migrate"]]
    at_home.append(["work"])
    for words in at_home:
        there = CliRunner().invoke(app, words)
        assert getattr(there.exception, "code", "") == "ONLY_AT_HOME", words
    tenant = CliRunner().invoke(app, ["documents", "list", "--tenant", "second"])
    assert isinstance(tenant.exception, InvalidRequest) and "--tenant" in tenant.exception.message


def test_a_command_prints_what_the_server_answers(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answered(self: RemoteCalls, operation: object, asked: object) -> object:
        page = {"items": [], "total": 0, "page": 1, "limit": 20}
        return operation.output.model_validate(page)  # type: ignore[attr-defined]

    monkeypatch.setattr(RemoteCalls, "call", answered)
    monkeypatch.setenv("MNEMON_SERVER_TOKEN", "mnm_x")
    done = CliRunner().invoke(app, ["--server", "http://127.0.0.1:9", "documents", "list", "--json"])
    monkeypatch.delenv("MNEMON_SERVER", raising=False)
    assert json.loads(done.stdout)["total"] == 0


def test_a_program_is_told_which_of_its_arguments_is_wrong_as_every_door_tells_it(home: Path) -> None:
    with mnemon.connect() as memory:
        calls = {
            "category: Invalid category: Blah": lambda: memory.events("crane", category="Blah"),
            "colour: is not known here": lambda: memory.ask("who?", colour="red"),
            "colour: is not known": lambda: memory.recall("who?", colour="red"),
            "limit": lambda: memory.search("crane", limit=-1),
        }
        for says, call in calls.items():
            with pytest.raises(InvalidRequest, match=says):
                call()
