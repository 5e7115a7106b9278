"""The chronicle tells of a file what happened to it and to everyone, and how long files waited."""

import json
import os
from pathlib import Path

from tests.storm.chronicle import READY, Chronicle, Happening, Wait


def test_waits_are_told_by_how_they_spread() -> None:
    chronicle = Chronicle(waits=[Wait(f"r{n}", 0.0, float(n)) for n in range(100)])
    assert chronicle.spread() == {"p50": 50.0, "p95": 95.0, "worst": 99.0}
    assert Chronicle().spread() == {"p50": 0.0, "p95": 0.0, "worst": 0.0}


def test_a_story_has_what_is_about_the_file_or_about_everyone() -> None:
    told = [("long before", None, 1.0), ("FAULT kill worker", None, 99.0), ("a job's end", "j1", 101.0),
            ("another's", "j2", 101.5), ("its client sees it", "r1", 103.0), ("long after", None, 120.0)]  # fmt: skip
    chronicle = Chronicle([Happening(at, what, about) for what, about, at in told], jobs={"r1": "j1"})
    story = chronicle.story(Wait("r1", 100.0, 4.0))
    assert [line.split(" s  ")[1] for line in story] == ["FAULT kill worker", "a job's end", "its client sees it"]
    assert story[0].strip().startswith("-1.0 s")


def test_the_longest_time_without_a_server_begins_with_a_fault() -> None:
    told = [(0.0, READY), (5.0, "FAULT kill server"), (5.1, "server is started"), (7.0, "FAULT clock jump"),
            (25.0, READY), (30.0, "FAULT slow disk"), (31.0, READY)]  # fmt: skip
    assert Chronicle([Happening(at, what) for at, what in told]).longest_without_server() == 20.0


def test_what_a_worker_says_of_a_job_is_noted_by_our_own_clock(tmp_path: Path) -> None:
    chronicle, places = Chronicle(), dict[Path, int]()
    lines = [{"event": "job_ended", "job_id": "j1", "status": "given_back", "ts": "2028-01-01T00:00:00Z"},
             {"event": "database_lost", "by": "worker"}, {"event": "recipients_read"}]  # fmt: skip
    written = "no json\n" + "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "worker-0.out").write_text(written[:30])
    chronicle.read_along(tmp_path, places)
    (tmp_path / "worker-0.out").write_text(written + '{"half')
    chronicle.read_along(tmp_path, places)
    assert [(one.what, one.about) for one in chronicle.happenings] == [
        ("worker-0 says job_ended status=given_back", "j1"),
        ("worker-0 says database_lost by=worker", None),
    ]


def test_a_story_ends_with_how_long_processes_had_no_processor() -> None:
    chronicle = Chronicle(lines=[(99.0, "server", 5.0), (101.0, "server", 1.5), (102.0, "server", 1.0)])
    assert chronicle.story(Wait("r1", 100.0, 4.0)) == ["meanwhile server stood in line for a processor for 2.5 s"]
    chronicle.look_at_lines({"me": os.getpid(), "nobody": 0})
    assert [name for _, name, _ in chronicle.lines[3:]] == ["me"]
