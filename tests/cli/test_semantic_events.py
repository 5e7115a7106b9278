"""Claims about `mnemon artifact` and `mnemon events`."""

import asyncio
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mnemon.app import open_mnemon
from mnemon.beside import worker_of
from mnemon.cli.binding.bind import most_of_page, with_more
from mnemon.cli.main import app
from mnemon.cli.semantic_events import print_commitments, print_event, print_found
from mnemon.semantics import operations, outputs
from mnemon.semantics.inputs import EventSearch
from mnemon.settings import load_settings
from tests.work.conftest import Eventually, eventually, running

__all__ = ["eventually"]
UNFINISHED = "SELECT count(*) AS n FROM mnemon.jobs WHERE status IN ('PENDING', 'PROCESSING') AND kind = ANY(%s)"

A_PROMISE: dict[str, Any] = {
    "event_id": "evt_0123456789abcdef0123456789abcdef", "artifact_uid": "uid_1", "revision_id": "rev_1",
    "category": "Commitment", "event_time": None, "narrative": "Hanna Vogt: I'll cancel the hall.",
    "subject": {"type": "topic", "ref": "hall"}, "actors": [], "confidence": 0.41, "title": "chat.txt",
}  # fmt: skip
A_COMMITMENT = A_PROMISE | {"owners": ["Lucie Moreau"], "days_left": -3, "overdue": True, "due": "2026-03-09"}


async def work(eventually: Eventually) -> None:
    """As `mnemon work` would, until nothing is left."""
    async with open_mnemon(load_settings()) as mnemon, running(worker_of(mnemon)):

        async def done() -> bool:
            async with mnemon.database.owner() as owner:
                kinds = ["documents.ingest", "semantics.extract"]
                row = await (await owner.execute(UNFINISHED, (kinds,))).fetchone()
            return row is not None and row["n"] == 0

        await eventually(done)


def call(*words: str) -> str:
    answer = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def test_a_row_of_commitments_has_its_id_and_quotes_what_was_said(capsys: pytest.CaptureFixture[str]) -> None:
    row = outputs.CommitmentOut(**A_COMMITMENT)
    print_commitments(
        outputs.Commitments(
            commitments=[row], total=1, total_is_exact=True, next_cursor=None, today=date(2026, 3, 12)
        )
    )  # fmt: skip
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "due 2026-03-09, overdue; Lucie Moreau: “Hanna Vogt: I'll cancel the hall.”"
    assert said[1].strip() == row.event_id
    assert said[2] == f"To say that one is done: mnemon events mark {row.event_id} done"


def test_words_that_a_model_inferred_are_not_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    row = outputs.CommitmentOut(**A_COMMITMENT, origin="inferred")
    print_commitments(
        outputs.Commitments(
            commitments=[row], total=1, total_is_exact=True, next_cursor=None, today=date(2026, 3, 12)
        )
    )  # fmt: skip
    assert "“" not in capsys.readouterr().out


def test_a_suggestion_says_that_it_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    for suggestion in (True, False):
        print_event(outputs.EventOut(**A_PROMISE, suggestion=suggestion))
        said = capsys.readouterr().out
        assert said.startswith("Suggested Commitment: ") == suggestion
        assert ("no fact until confirmed" in said) == suggestion


def test_a_page_of_all_events_says_that_it_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    page = [outputs.EventOut(**A_PROMISE)]
    found = outputs.EventsFound(events=page, total=43, total_is_exact=True, next_cursor="abc", filters_applied={})
    print_found(found)
    assert "1 of 43; --limit shows more" in capsys.readouterr().out
    told = " ".join(CliRunner().invoke(app, ["events", "list", "--help"], env={"COLUMNS": "400"}).stdout.split())
    assert "unset: all of a document, or 20 where none is named." in told


def test_more_events_than_a_page_has_are_asked_for_page_by_page() -> None:
    asked_for: list[int] = []

    async def answered(operation: object, asked: Any) -> outputs.EventsFound:
        asked_for.append(asked.limit)
        page = [outputs.EventOut(**A_PROMISE)] * asked.limit
        following = "more" if len(asked_for) < 3 else None
        return outputs.EventsFound(
            events=page, total=230, total_is_exact=True, next_cursor=following, filters_applied={}
        )

    async def collected() -> outputs.EventsFound:
        asked = EventSearch(limit=most_of_page(operations.search))
        first = await answered(operations.search, asked)
        found = await with_more(answered, operations.search, asked, first, "events", 230)
        assert isinstance(found, outputs.EventsFound)
        return found

    assert len(asyncio.run(collected()).events) == 230
    assert asked_for == [100, 100, 30]


@pytest.mark.slow
def test_a_note_is_added_and_read_on_the_terminal(
    served_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, eventually: Eventually
) -> None:
    monkeypatch.setenv("MNEMON_HOME", str(served_home))
    monkeypatch.setenv("MNEMON_EMBEDDER", "none")
    note = tmp_path / "note.txt"
    note.write_text("We decided to use Postgres.\n\nAda Byron will send the budget by 9 March 2026.")
    kept = ("--date", "2026-03-02", "--retention", "custom", "--until", "2999-01-31")
    taken = json.loads(call("artifact", "add", str(note), "--source-id", "n", *kept, "--no-wait", "--json"))
    uid = taken["artifact_uid"]
    assert "waits for a worker" in call("artifact", "job", uid)
    assert "artifact job" in call("events", "list", uid)
    assert "artifact job" in call("events", "search", "Postgres")
    assert "retain_until: 2999-01-31T23:59:59" in call("artifact", "show", uid), "to the end of that day"
    asyncio.run(work(eventually))

    assert "Postgres" in call("events", "search", "Postgres")
    assert json.loads(call("events", "list", uid, "--json"))["total"] == 2
    assert json.loads(call("events", "list", "note.txt", "--json"))["total"] == 2, "a file's name is as good as a uid"
    assert json.loads(call("events", "list", "--json"))["total"] == 2, "all that there are"
    assert "Postgres" in call("events", "search", "--artifact", "note.txt")
    assert "Ada Byron" in call("events", "commitments", "--today", "2026-03-20")
    assert "Ada Byron" in call("events", "people")
    page = call("events", "search", "--limit", "1")
    following = page.rpartition("--cursor ")[2].strip()
    assert following, "a page says where the next one begins"
    events = [call("events", "search", "--limit", "1", *more) for more in ((), ("--cursor", following))]
    assert sorted("budget" in one for one in events) == [False, True]
    assert "More" not in events[1]
    both = "Ada Byron will send the plan by 10 March 2026.\n\nAda Byron will send the map by 11 March 2026."
    note.write_text(both)
    # Where no worker runs, the command waits and reads it itself.
    call("artifact", "add", str(note), "--source-id", "two", "--date", "2026-03-02")
    for view in ("commitments", "people"):
        assert "2 of 3" in call("events", view, "--limit", "2")
        assert " of " not in call("events", view)
    assert "Every quote stands in its text." in call("events", "verify")
    assert call("events", "export", "--format", "csv").startswith("event_id,category")
    assert json.loads(call("artifact", "revisions", uid, "--json"))["total"] == 1
    assert "DONE" in call("events", "reextract", uid)
    assert json.loads(call("events", "search", "--artifact", "uid_0", "--json"))["total"] == 0
    due = json.loads(call("events", "search", "--artifact", uid, "--due-before", "2026-03-10", "--json"))
    assert [event["due"] for event in due["events"]] == ["2026-03-09"]
    for kind, amount in (("promise", 1), ("assignment", 0)):
        found = json.loads(call("events", "search", "--artifact", uid, "--kind", kind, "--json"))
        assert (kind, found["total"]) == (kind, amount)
        assert call("events", "export", "--artifact", uid, "--kind", kind).count("evt_") == amount
    [promise] = [event["event_id"] for event in due["events"]]
    assert "done" in call("events", "mark", promise, "done")
    assert "owner Ben Okafor" in call("events", "edit", promise, "--owner", "Ben Okafor")
    assert "taken back by operator:cli" in call("events", "undo", promise)
    [label] = [json.loads(line) for line in call("events", "corrections", "--export").splitlines()]
    assert (label["event_id"], label["verdict"]) == (promise, "right")
    assert promise in call("events", "corrections", "--json")
    note.write_text("We decided to use SQLite.")
    call("artifact", "add", str(note), "--source-id", "n", *kept)
    for command in (("search", "--json"), ("export",)):
        assert "Postgres" not in call("events", *command, "--artifact", uid)
        assert "Postgres" in call("events", *command, "--artifact", uid, "--all-revisions")
    assert json.loads(call("artifact", "job", uid, "--json"))["status"] == "DONE"
    assert call("artifact", "delete", uid, "--yes") == "Gone: 2 revisions.\n"
    assert json.loads(call("events", "search", "--json"))["total"] == 2
