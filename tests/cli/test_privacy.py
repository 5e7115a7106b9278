"""`mnemon privacy` and `mnemon log archive` as an operator runs them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ..conftest import MakeHome, new_folder
from .conftest import mnemon

DECLARATION = {
    "type": "crm.lead.made",
    "schema_version": 1,
    "data_schema": {"type": "object"},
    "pii_fields": [{"field_path": "name", "pii_class": "name", "subject_path": "id"}],
}
NAME = "Eve Quuxington"
PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def environment(open_folder: Path, make_home: MakeHome) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MNEMON_")}
    home = make_home(new_folder(open_folder, "privacy-cli"))
    made = plain | {"MNEMON_HOME": str(home), "MNEMON_DATABASE_LINGER_SECONDS": "5", "COLUMNS": "200"}
    for email in ("ana@example.org", "ben@example.org"):
        result(made, "user", "add", email, "--role", "admin", "--password", text=f"{PASSWORD} {email}\n")
    result(made, "log", "register", json.dumps(DECLARATION))
    return made


@pytest.fixture(scope="module")
def zed(environment: dict[str, str]) -> str:
    """Somebody who stays."""
    result(environment, "log", "append", json.dumps({"type": "crm.lead.made", "data": {"id": "p-2", "name": "Zed"}}))
    return "p-2"


def result(environment: dict[str, str], *words: str, text: str = "") -> Any:
    done = mnemon(environment, *words, "--json", text=text)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_person_from_record_to_proof_of_absence(environment: dict[str, str]) -> None:
    result(environment, "user", "add", "cleo@example.org")
    result(environment, "log", "append", json.dumps({"type": "crm.lead.made", "data": {"id": "p-1", "name": NAME}}))
    assert "p-1" in [one["subject_id"] for one in result(environment, "privacy", "subjects")]
    [known] = result(environment, "privacy", "show", "p-1")
    assert (known["field"], known["value"]) == ("/data/name", NAME)
    before = result(environment, "privacy", "scan", "p-1")
    assert (before["clean"], before["words"]) == (True, 1)

    erase = ("privacy", "erase", "p-1", "--reason", "subject_request", "--by", "ana@example.org")
    alone = mnemon(environment, *erase, "--approved-by", "ana@example.org")
    assert (alone.returncode, "second person" in alone.stderr) == (1, True)
    plain = mnemon(environment, *erase, "--approved-by", "cleo@example.org")
    assert (plain.returncode, "not an active administrator" in plain.stderr) == (1, True)
    asked = result(environment, *erase)
    assert asked["status"] == "requested"
    approve = ("privacy", "approve", asked["erasure_id"], "--by", "ben@example.org")
    for credential in ("", f"{PASSWORD} ana@example.org"):
        named = mnemon(environment, *approve, text=f"{credential}\n")
        assert (named.returncode, "ben@example.org" in named.stderr) == (1, True), "naming a person is not being one"
    done = result(environment, *approve, text=f"{PASSWORD} ben@example.org\n")
    assert (done["status"], done["events_affected"]) == ("completed", 1)
    listed = {one["erasure_id"]: one["status"] for one in result(environment, "privacy", "erasures")}
    assert listed[asked["erasure_id"]] == "completed"
    assert result(environment, "privacy", "show", "p-1") == []

    after = result(environment, "privacy", "scan", "p-1", "--words", "-", text=f"{NAME}\n")
    assert after["clean"] is True
    assert "mnemon.erasures.subject_id" in after["columns"]
    nothing = mnemon(environment, "privacy", "scan", "p-1")
    assert (nothing.returncode, "No words to look for" in nothing.stdout) == (1, True)
    result(environment, "user", "add", "eve@example.org", "--name", NAME)
    found = mnemon(environment, "privacy", "scan", "p-1", "--words", "-", text=f"{NAME}\n")
    assert (found.returncode, "mnemon.users.name" in found.stdout) == (1, True)
    assert mnemon(environment, "log", "verify").returncode == 0


def test_keys_are_rotated_and_payloads_archived_and_restored(environment: dict[str, str], zed: str) -> None:
    rotated = result(environment, "privacy", "rotate", "--discard")
    assert rotated["rewrapped"] >= 1
    assert len(rotated["discarded"]) == 1
    # Backups have a new key as well, and the second time there is an old one to discard.
    assert len(rotated["backup_key"]) == 16
    assert len(result(environment, "privacy", "rotate", "--discard")["backup_keys_discarded"]) == 1
    moved = result(environment, "log", "archive", "--before", "2999-01-01")
    assert moved[0]["first_sequence"] == "1"
    assert result(environment, "log", "archives") == moved
    [known] = result(environment, "privacy", "show", zed)
    assert known["value"] == "Zed"
    assert mnemon(environment, "log", "verify").returncode == 0
    assert result(environment, "log", "restore") == moved
    assert mnemon(environment, "log", "verify").returncode == 0
    wrong = mnemon(environment, "log", "archive", "--before", "yesterday")
    assert (wrong.returncode, "2026-03-01" in wrong.stderr) == (1, True)


def test_a_lost_key_file_is_a_clear_error(environment: dict[str, str], zed: str) -> None:
    [file] = (Path(environment["MNEMON_HOME"]) / "keys").glob("privacy-*.key")
    kept = file.read_text()
    file.unlink()
    lost = mnemon(environment, "privacy", "show", zed, "--json")
    assert (lost.returncode, "KEY_UNAVAILABLE" in lost.stderr) == (1, True)
    event = json.dumps({"type": "crm.lead.made", "data": {"id": "p-3", "name": "New"}})
    assert "KEY_UNAVAILABLE" in mnemon(environment, "log", "append", event, "--json").stderr
    file.write_text(kept)
    assert result(environment, "privacy", "show", zed)[0]["value"] == "Zed"


def test_a_restore_does_the_erasures_again_that_came_after_the_backup(
    environment: dict[str, str], zed: str, tmp_path: Path
) -> None:
    file, home = tmp_path / "old.backup", Path(environment["MNEMON_HOME"])
    result(environment, "log", "append", json.dumps({"type": "crm.lead.made", "data": {"id": "p-9", "name": "Oskar"}}))
    result(environment, "db", "backup", str(file))
    done = result(environment, "privacy", "erase", "p-9", "--reason", "subject_request", "--by", "ana@example.org",
                  "--approved-by", "ben@example.org", text=f"{PASSWORD} ben@example.org\n")  # fmt: skip
    assert done["status"] == "completed"
    listed = home / "keys" / "erasures.jsonl"
    away = listed.rename(home / "erasures.jsonl")
    # Whoever replaces a database that still lives does not need the list: its own tombstones are noted first.
    restored = result(environment, "db", "restore", str(file), "--replace")
    assert restored["erasures_repeated"] == 1
    assert result(environment, "privacy", "show", "p-9") == []
    assert result(environment, "privacy", "show", zed)[0]["value"] == "Zed"
    listed.unlink()
    away.rename(listed)
    restored = mnemon(environment, "db", "restore", str(file), "--replace")
    assert "1 erasure since then done again." in restored.stdout, restored.stderr
    assert result(environment, "privacy", "show", "p-9") == []
    # The first restore is signed too, with an erasure of its own.
    assert "mnemon log adopt-restore --tenant main" in restored.stdout
    assert mnemon(environment, "log", "adopt-restore").returncode == 0
    assert mnemon(environment, "log", "verify").returncode == 0
