"""`mnemon add`, `mnemon documents` and `mnemon runs`, as a person or a script runs them."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from mnemon.app import open_mnemon
from mnemon.beside import worker_of
from mnemon.cli.main import app
from mnemon.documents.jobs import KINDS as DOCUMENT_KINDS
from mnemon.errors import Conflict, InvalidRequest, NotFound
from mnemon.settings import Settings
from tests.patience import PATIENCE

from ..conftest import SETTING_NAMES, MakeHome, new_folder

QUEUED = (
    "SELECT job_id FROM mnemon.jobs WHERE kind = 'documents.ingest' AND status IN ('PENDING', 'PROCESSING') LIMIT 1"
)


@pytest.fixture(scope="module")
def folder(open_folder: Path) -> Path:
    """A home, and beside it a folder of papers as people have them."""
    place = new_folder(open_folder, "documents-cli")
    papers = place / "papers"
    (papers / "2026" / ".git").mkdir(parents=True)
    (papers / "policy.md").write_text("# Travel\n\nWe take the train.\n")
    (papers / "2026" / "minutes.txt").write_text("The board decided to open an office in Lyon.\n")
    (papers / "2026" / "blank.txt").write_text(" \n")
    (papers / "2026" / "photo.heic").write_bytes(b"\x89PNG")
    (papers / "2026" / ".hidden.txt").write_text("hidden")
    (papers / "2026" / ".git" / "config.txt").write_text("hidden too")
    (papers / "2026" / "fake.pdf").write_text("no PDF at all")
    return place


@pytest.fixture(scope="module")
def environment(folder: Path, make_home: MakeHome) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if name not in SETTING_NAMES}
    home = {"MNEMON_HOME": str(make_home(folder / "home")), "MNEMON_DATABASE_LINGER_SECONDS": "5"}
    return plain | home | {"COLUMNS": "200", "MNEMON_EMBEDDER": "none"}


def mnemon(environment: dict[str, str], *words: object) -> Result:
    """In this process, as starting one for each command would take most of the time."""
    return CliRunner().invoke(app, [str(word) for word in words], env=environment)


def result(environment: dict[str, str], *words: object, code: int = 0) -> Any:
    done = mnemon(environment, *words, "--json")
    assert done.exit_code == code, (done.output, done.exception)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def added(environment: dict[str, str], folder: Path) -> dict[str, dict[str, Any]]:
    """Everything of the papers, by file name."""
    told = result(environment, "add", folder / "papers", code=1)
    assert (told["succeeded"], told["failed"], told["refused"], told["left_out"]) == (2, 1, 1, 1)
    return {Path(one["path"]).name: one for one in told["files"]}


def test_a_folder_is_taken_in_and_read_with_a_reason_for_what_is_not(added: dict[str, dict[str, Any]]) -> None:
    assert {name: one["status"] for name, one in added.items()} == {
        "policy.md": "succeeded",
        "minutes.txt": "succeeded",
        "blank.txt": "failed",
        "photo.heic": "left_out",
        "fake.pdf": "refused",
    }
    assert "no text" in added["blank.txt"]["reason"]
    assert added["fake.pdf"]["error_code"] == "UNSUPPORTED_FILE"


def test_what_was_decided_in_the_files_is_known_when_the_command_ends(environment: dict[str, str], added: Any) -> None:
    assert result(environment, "events", "search")["total"] > 0


def test_files_that_are_there_already_are_read_for_events_too(
    environment: dict[str, str], folder: Path, added: Any
) -> None:
    """As after an interruption, or where a version took them in that left that to a worker."""
    paper = folder / "crane.txt"
    paper.write_text("The board decided to lease a crane.\n")
    result(environment, "tenant", "add", "harbour")
    here = ("--tenant", "harbour")
    result(environment, "add", paper, "--no-wait", *here)
    asyncio.run(ingest_only(Settings.model_validate({"home": folder / "home", "embedder": "none"})))
    assert result(environment, "events", "search", "crane", *here)["total"] == 0
    assert result(environment, "add", paper, *here)["skipped"] == 1
    assert result(environment, "events", "search", "crane", *here)["total"] == 1


async def ingest_only(settings: Settings) -> None:
    async with open_mnemon(settings) as opened, opened.database.owner() as owner:
        worker = worker_of(opened, DOCUMENT_KINDS)
        working = asyncio.create_task(worker.run())
        async with asyncio.timeout(PATIENCE):
            while await (await owner.execute(QUEUED)).fetchone():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        worker.stop()
        await working


def test_people_are_told_the_same(environment: dict[str, str], folder: Path, added: Any) -> None:
    done = mnemon(environment, "add", folder / "papers")
    assert done.exit_code == 1
    assert "already ingested, no changes" in done.stdout
    skipped = {Path(line.split()[0]).name for line in done.stdout.splitlines() if "skipped" in line}
    assert skipped == {"minutes.txt", "policy.md"}
    assert "Left out 1 file (2026/photo.heic): not one of .pdf, .docx" in done.stdout
    archive = folder / "list.mbox"
    archive.write_text("From ana Mon Oct 05 10:00:00 2026\n")
    assert "mnemon mail import FILE" in mnemon(environment, "add", archive).stdout
    missing = mnemon(environment, "add", folder / "no-such-file.txt")
    assert missing.exit_code == 1 and "there is no such file" in missing.stdout


def test_documents_are_listed_shown_and_printed(
    environment: dict[str, str], added: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    policy = added["policy.md"]["doc_id"]
    listed = result(environment, "documents", "list")
    assert {one["title"] for one in listed["documents"]} == {"policy.md", "minutes.txt"} and listed["total"] == 2
    assert [one["doc_id"] for one in result(environment, "documents", "list", "policy")["documents"]] == [policy]
    assert result(environment, "documents", "show", policy)["status"] == "active"
    assert "We take the train." in mnemon(environment, "documents", "text", policy).stdout
    (chunk,) = result(environment, "documents", "chunks", policy)
    text = result(environment, "documents", "text", policy)["text"]
    assert text[chunk["start_offset"] : chunk["end_offset"]] == chunk["text"]
    (version,) = result(environment, "documents", "versions", policy)
    assert (version["version_number"], version["is_active"]) == (1, True)
    target = tmp_path / "saved.md"
    result(environment, "documents", "download", policy, target)
    assert target.read_text() == "# Travel\n\nWe take the train.\n"
    again = mnemon(environment, "documents", "download", policy, target)
    assert isinstance(again.exception, Conflict) and "exists already" in again.exception.message


def test_runs_are_followed_and_retried(environment: dict[str, str], added: dict[str, dict[str, Any]]) -> None:
    failed = result(environment, "runs", "list", "--status", "failed")["runs"][-1]
    assert failed["run_id"] == added["blank.txt"]["run_id"]
    assert result(environment, "runs", "show", failed["run_id"])["error_code"] == "EXTRACTION_FAILED"
    assert "blank.txt" in mnemon(environment, "runs", "list").stdout
    assert result(environment, "runs", "retry", failed["run_id"])["status"] == "queued"


def test_a_document_is_switched_off_and_on_rebuilt_and_destroyed(
    environment: dict[str, str], added: dict[str, dict[str, Any]]
) -> None:
    minutes = added["minutes.txt"]["doc_id"]
    assert result(environment, "documents", "deactivate", minutes)["status"] == "inactive"
    assert result(environment, "documents", "list")["total"] == 1
    assert result(environment, "documents", "reactivate", minutes, "--version", "1")["status"] == "active"
    assert len(result(environment, "documents", "rebuild", "--all")["run_ids"]) == 2
    refused = mnemon(environment, "documents", "rebuild")
    assert isinstance(refused.exception, InvalidRequest) and "--all" in refused.exception.message
    unasked = mnemon(environment, "documents", "purge", minutes)
    assert unasked.exit_code == 1
    assert result(environment, "documents", "purge", minutes, "--yes")["versions"] == 1
    assert result(environment, "documents", "show", minutes)["status"] == "purged"
    assert "Lyon" not in mnemon(environment, "documents", "text", minutes).stdout


def test_a_file_known_by_its_path_gets_versions(environment: dict[str, str], folder: Path, added: Any) -> None:
    paper = folder / "evolving.txt"
    paper.write_text("First.")
    first = result(environment, "add", paper, "--title", "Evolving", "--tag", "x")["files"][0]
    paper.write_text("Second.")
    second = result(environment, "add", paper)["files"][0]
    assert (second["status"], second["doc_id"]) == ("succeeded", first["doc_id"])
    shown = result(environment, "documents", "show", first["doc_id"])
    assert (shown["version_number"], shown["title"], shown["tags"]) == (2, "Evolving", ["x"])


def test_a_document_is_named_as_a_person_names_it(environment: dict[str, str], folder: Path, added: Any) -> None:
    (folder / "hut").mkdir()
    for name in ("hut winter.txt", "hut summer.txt"):
        (folder / "hut" / name).write_text(f"The {name} rules.")
    winter, summer = (one["doc_id"] for one in reversed(result(environment, "add", folder / "hut")["files"]))
    assert result(environment, "documents", "show", "HUT winter.txt")["doc_id"] == winter
    assert result(environment, "documents", "show", "winter")["doc_id"] == winter
    assert result(environment, "documents", "show", summer[:23])["doc_id"] == summer
    both = mnemon(environment, "documents", "show", "hut")
    assert isinstance(both.exception, InvalidRequest)
    assert "may mean 2 documents" in both.exception.message and summer in both.exception.message
    for name in ("monday.md", "friday.md"):
        (folder / "hut" / name).write_text(f"# Call of the wardens\n\nOn {name} nobody came.")
    result(environment, "add", folder / "hut")
    calls = mnemon(environment, "documents", "show", "Call of the wardens")
    assert isinstance(calls.exception, InvalidRequest)
    assert "monday.md" in calls.exception.message and "friday.md" in calls.exception.message
    nothing = mnemon(environment, "documents", "text", "no such thing")
    assert isinstance(nothing.exception, NotFound) and "mnemon documents list" in nothing.exception.message


def test_by_content_an_edited_file_is_another_document(environment: dict[str, str], folder: Path) -> None:
    paper = folder / "edited.txt"
    paper.write_text("Words as they first stood.")
    first = result(environment, "add", paper, "--by-content")["files"][0]
    paper.write_text("Words as they stand now.")
    second = result(environment, "add", paper, "--by-content")["files"][0]
    assert first["doc_id"] != second["doc_id"]


def test_what_is_gone_from_a_folder_is_told_and_may_be_deactivated(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "kept note.md").write_text("The key is under the mat.")
    gone = tmp_path / "größe.md"
    gone.write_text("The safe is behind the picture.")
    (tmp_path / "odd.xyz").write_text("?")
    both = result(environment, "add", tmp_path, "--no-wait")
    assert both["gone"] == []
    result(environment, "add", tmp_path)
    gone.unlink()
    told = mnemon(environment, "add", tmp_path).stdout
    assert "still served: größe.md" in told and "--deactivate-gone" in told and "odd.xyz" in told
    (one,) = result(environment, "add", tmp_path, "--deactivate-gone")["gone"]
    assert one["deactivated"] and one["path"].endswith("größe.md")
    assert result(environment, "documents", "show", one["doc_id"])["status"] == "inactive"
    assert result(environment, "add", tmp_path)["gone"] == []


def test_a_file_is_added_for_one_reader_and_for_a_time(environment: dict[str, str], folder: Path) -> None:
    paper = folder / "salaries.txt"
    paper.write_text("Salaries rise by three percent.\n")
    told = result(environment, "add", paper, "--visibility", "me", "--retention", "1y", "--type", "note", "--no-wait")
    (one,) = told["files"]
    shown = result(environment, "documents", "list", "--status", "unread")["documents"]
    (found,) = [each for each in shown if each["doc_id"] == one["doc_id"]]
    assert (found["visibility_scope"], found["retention_policy"], found["document_type"]) == ("me", "1y", "note")
    refused = mnemon(environment, "add", paper, "--visibility", "nobody")
    assert isinstance(refused.exception, InvalidRequest) and "Invalid visibility_scope" in str(refused.exception)


@pytest.mark.slow
def test_ctrl_c_stops_between_files_and_what_was_taken_in_is_read_later(
    environment: dict[str, str], folder: Path, added: Any
) -> None:
    many = folder / "many"
    many.mkdir()
    for number in range(3000):
        (many / f"{number:04}.txt").write_text(f"Paper number {number}.")
    command = [sys.executable, "-m", "mnemon", "add", str(many), "--json"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    uploads = folder / "home" / "uploads"
    before = len(list(uploads.glob("*/*")))
    deadline = time.monotonic() + PATIENCE
    while len(list(uploads.glob("*/*"))) < before + 9 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said, complaints = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, complaints
    told = json.loads(said)
    assert told["interrupted"] and 5 <= told["queued"] < 3000
    queued = result(environment, "runs", "list", "--status", "queued")
    assert queued["total"] >= told["queued"]


def test_opening_a_document_is_told_apart_from_opening_a_source() -> None:
    refused = CliRunner().invoke(app, ["documents", "open", "minutes.md"]).exception
    assert isinstance(refused, InvalidRequest)
    for way in ("mnemon documents text", "mnemon open 1"):
        assert way in refused.message
