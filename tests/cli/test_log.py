"""`mnemon log` as a person or a script runs it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from mnemon.db.embedded import EmbeddedServer
from mnemon.log.append.incoming import DECISION, DECISION_TYPE
from tests.patience import PATIENCE

from ..conftest import SETTING_NAMES, MakeHome, new_folder
from .conftest import mnemon

Run = Callable[..., subprocess.CompletedProcess[str]]
VERIFIER = Path(__file__).parents[2] / "verify" / "mnemon_verify.py"


@pytest.fixture(scope="module")
def folder(open_folder: Path) -> Path:
    return new_folder(open_folder, "log-cli")


@pytest.fixture(scope="module")
def environment(folder: Path, make_home: MakeHome) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if name not in SETTING_NAMES}
    make_home(folder / "home")
    return plain | {"MNEMON_HOME": str(folder / "home"), "MNEMON_DATABASE_LINGER_SECONDS": "5", "COLUMNS": "220"}


@pytest.fixture(scope="module")
def run(environment: dict[str, str]) -> Run:
    def call(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return mnemon(environment, "log", *words, text=text)

    return call


@pytest.fixture(scope="module")
def board(run: Run, folder: Path) -> list[dict[str, Any]]:
    """Three decisions, each the cause of the next, as the append of each printed it."""
    declared = folder / "types.json"
    declared.write_text(json.dumps([DECISION_TYPE]))
    done = run("register", "--file", str(declared))
    assert done.stdout == "Registered board.decision.taken version 1.\n", done.stderr
    appended: list[dict[str, Any]] = []
    for number in (1, 2, 3):
        event = DECISION | {"entities": [{"entity_type": "decision", "entity_id": f"D-{number}"}]}
        event |= {"caused_by": appended[-1]["id"]} if appended else {}
        done = run("append", json.dumps(event), "--json")
        assert done.returncode == 0, done.stderr
        appended += json.loads(done.stdout)["events"]
    return appended


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_streams_are_tables_for_people_and_lines_for_programs(run: Run, board: list[dict[str, Any]]) -> None:
    shown = run("read", "--tag", "hosting").stdout
    assert shown.splitlines()[0].split() == ["Sequence", "Occurred", "Type", "Entity", "Actor", "Id", "Data"]
    assert "decision/D-2" in shown
    found = lines(run("read", "--type", "board.decision.taken", "--backward", "--json"))
    assert [one["id"] for one in found] == [one["id"] for one in reversed(board)]
    assert found[0]["actor"] == {"type": "system", "id": "operator:cli"}
    assert found[0]["metadata"]["source"]["channel"] == "cli"
    assert [one["id"] for one in lines(run("read", "--entity", "decision/D-2", "--json"))] == [board[1]["id"]]
    everything = lines(run("read", "--tag", "hosting", "--limit", "2", "--all", "--json"))
    assert [one["id"] for one in everything] == [one["id"] for one in board]
    as_of = lines(run("read", "--tag", "hosting", "--as-of", board[0]["sequence"], "--json"))
    assert [one["id"] for one in as_of] == [board[0]["id"]]
    assert json.loads(run("read", board[2]["id"]).stdout)["id"] == board[2]["id"]


def test_a_page_says_how_to_go_on(run: Run, board: list[dict[str, Any]]) -> None:
    first = run("read", "--tag", "hosting", "--limit", "2").stdout
    cursor = first.rsplit("--cursor ", 1)[1].strip()
    rest = lines(run("read", "--tag", "hosting", "--cursor", cursor, "--json"))
    assert [one["id"] for one in rest] == [board[2]["id"]]


def test_events_come_from_the_argument_a_file_or_the_input(run: Run, board: object, folder: Path) -> None:
    event = {"type": "board.decision.taken", "data": {"title": "x", "outcome": "approved"}}
    event |= {"entities": [{"entity_type": "decision", "entity_id": "D-9"}], "scope": {"legal_entity": "side"}}
    file = folder / "events.jsonl"
    file.write_text(f"{json.dumps(event)}\n\n{json.dumps(event)}\n")
    assert len(json.loads(run("append", "--file", str(file), "--json").stdout)["events"]) == 2
    whole = json.dumps({"events": [event]})
    first = json.loads(run("append", "--key", "once", "--json", text=whole).stdout)["events"]
    again = json.loads(run("append", "--key", "once", "--json", text=whole).stdout)["events"]
    assert (first[0]["duplicate"], again[0]["duplicate"], again[0]["id"]) == (False, True, first[0]["id"])
    assert len(lines(run("read", "--legal-entity", "side", "--json"))) == 3


@pytest.mark.parametrize(
    ("words", "text", "code", "says"),
    [
        (["append"], "", "INVALID_REQUEST", "No event came"),
        (["append", "{"], "", "INVALID_REQUEST", "This is not JSON"),
        (["append"], '{"type": "a.b"}\n{"type"', "INVALID_REQUEST", "Line 2 is not JSON"),
        (["append", '{"type": "a.b"}'], "", "INVALID_REQUEST", "data: is missing"),
        (["append", '{"type": "a.b", "data": {}}'], "", "EVENT_TYPE_NOT_REGISTERED", "register it"),
        (["append", '{"type": "identity.user.added", "data": {}}'], "", "EVENT_TYPE_RESERVED", "a type of your own"),
        (["append", "--file", "/nonexistent"], "", "INVALID_REQUEST", "cannot be read"),
        (["read", "--tag", "a", "--actor", "b"], "", "INVALID_REQUEST", "A stream is one thing"),
        (["read", "--from", "soon"], "", "INVALID_REQUEST", "neither a day"),
        (["read", "01NONE"], "", "EVENT_NOT_FOUND", "There is no event 01NONE"),
        (["lineage", "01NONE"], "", "EVENT_NOT_FOUND", "There is no event 01NONE"),
        (["types", "a.b"], "", "NOT_FOUND", "`mnemon log types` lists them"),
        (["verify", "--resume", "7"], "", "INVALID_REQUEST", "as the interrupted run printed it"),
    ],
)
def test_an_error_says_what_to_do(run: Run, board: object, words: list[str], text: str, code: str, says: str) -> None:
    done = run(*words, text=text)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: ")
    assert says in done.stderr
    assert json.loads(run(*words, "--json", text=text).stderr)["error_code"] == code


def test_causes_and_processes(run: Run, board: list[dict[str, Any]]) -> None:
    up = lines(run("lineage", board[2]["id"], "--json"))
    assert [one["id"] for one in up] == [one["id"] for one in board]
    down = lines(run("lineage", board[0]["id"], "--descendants", "--json"))
    assert [one["id"] for one in down] == [one["id"] for one in board[1:]]
    drawn = run("lineage", board[2]["id"]).stdout.splitlines()
    assert [line.index("board.decision") for line in drawn] == sorted({line.index("board.decision") for line in drawn})
    trace = json.loads(run("trace", "hosting-2026", "--json").stdout)
    assert len(trace["events"]) == 3
    assert "3 events over 0:00:00, by operator:cli" in run("trace", "hosting-2026").stdout


def test_types_are_listed_and_shown(run: Run, board: object) -> None:
    listed = run("types").stdout
    assert "board.decision.taken" in listed
    assert "identity.user.added" in listed
    shown = json.loads(run("types", "board.decision.taken").stdout)
    assert shown[0]["data_schema"] == DECISION_TYPE["data_schema"]


def test_following_shows_what_arrives_and_ends_cleanly_on_ctrl_c(
    environment: dict[str, str], run: Run, board: list[dict[str, Any]]
) -> None:
    follower = subprocess.Popen(
        [sys.executable, "-m", "mnemon", "log", "tail", "--follow", "-n", "1", "--json"],
        env=environment | {"PYTHONFAULTHANDLER": "1"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # Tests that a shell runs in its background ignore Ctrl-C, and so would the follower.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert follower.stdout
    try:
        assert json.loads(follower.stdout.readline())["sequence"]
        [made] = json.loads(run("append", json.dumps(DECISION | {"tags": ["late"]}), "--json").stdout)["events"]
        assert json.loads(follower.stdout.readline())["id"] == made["id"]
    finally:
        follower.send_signal(signal.SIGINT)
    try:
        _, complaints = follower.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        follower.send_signal(signal.SIGABRT)  # it says where it was
        pytest.fail(f"Still there a minute after Ctrl-C: {follower.communicate()[1]}")
    assert (follower.returncode, complaints) == (0, "")


def test_a_receipt_and_an_export_convince_the_verifier_that_knows_no_mnemon(
    run: Run, board: list[dict[str, Any]], folder: Path
) -> None:
    receipt, export = folder / "D-1.receipt.json", folder / "main.jsonl"
    signed = json.loads(run("checkpoint", "--legal-entity", "main", "--json").stdout)
    assert "covers it" in run("receipt", board[0]["id"], "--output", str(receipt)).stdout
    refused = run("receipt", board[0]["id"], "--output", str(receipt))
    assert "exists already" in refused.stderr
    assert run("export", str(export)).stdout == f"Wrote {export}.\n"
    assert run("export").stdout == export.read_text()
    for words in (["receipt", receipt, "--key", signed[0]["public_key"]], ["export", export]):
        done = subprocess.run(
            [sys.executable, "-I", VERIFIER, *words], capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert str(signed[0]["public_key"])[:16] in run("checkpoint", "--list").stdout


@pytest.fixture
def superuser(environment: dict[str, str]) -> Iterator[psycopg.Connection]:
    server = EmbeddedServer(Path(environment["MNEMON_HOME"]), linger_seconds=5)
    server.ensure_running()
    with psycopg.connect(server.cluster.conninfo("postgres"), dbname="mnemon", autocommit=True) as opened:
        yield opened
    server.release()


def test_verify_passes_and_then_names_the_event_that_a_superuser_changed(
    run: Run, board: list[dict[str, Any]], superuser: psycopg.Connection
) -> None:
    intact = json.loads(run("verify", "--json").stdout)
    assert intact["intact"] is True
    assert {one["legal_entity"] for one in intact["partitions"]} >= {"main"}
    partition = superuser.execute("SELECT partition_id FROM mnemon.partitions WHERE legal_entity = 'main'").fetchone()
    assert partition is not None
    superuser.execute("SET session_replication_role = replica")
    changed = superuser.execute(
        "UPDATE mnemon.event_payloads SET payload = replace(payload, 'approved', 'rejected') "
        "WHERE partition_id = %s AND sequence = %s",
        (partition[0], int(board[1]["sequence"])),
    )
    assert changed.rowcount == 1
    found = run("verify")
    assert found.returncode == 1
    assert "main was changed in 1 place" in found.stdout
    assert f"The payload of event {board[1]['sequence']} is not the one that was recorded" in found.stdout
    as_json = run("verify", "--legal-entity", "main", "--json")
    assert as_json.returncode == 1
    [fault] = json.loads(as_json.stdout)["partitions"][0]["faults"]
    assert (fault["sequence"], fault["kind"]) == (board[1]["sequence"], "payload")


def test_a_changed_signing_key_leaves_what_was_signed_in_force(
    run: Run, board: list[dict[str, Any]], folder: Path
) -> None:
    old = json.loads(run("checkpoint", "--json").stdout)[0]["public_key"]
    done = run("rotate-key", "--json")
    new = json.loads(done.stdout)["public_key"]
    assert new != old, done.stderr
    file = folder / "after-rotation.json"
    assert run("receipt", board[0]["id"], "--output", str(file)).returncode == 0
    for key in (old, new):
        checked = subprocess.run([sys.executable, VERIFIER, "receipt", file, "--key", key], capture_output=True)
        assert checked.stdout == b"all holds\n"
