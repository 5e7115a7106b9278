"""Log lines are JSON with the ids of their task; libraries' lines too."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from mnemon.telemetry import bind, configure_logging, logger, unbind_all
from tests.logs import log_plainly


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    handlers, level = logging.root.handlers, logging.root.level
    yield
    logging.root.handlers, logging.root.level = handlers, level
    structlog.reset_defaults()
    log_plainly()
    unbind_all()


def test_a_line_is_json_and_carries_the_bound_ids(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("INFO", "json")
    bind(request_id="r1", tenant_id="t1", job_id=7)
    logger("test").info("thing_done", size=3)
    line = json.loads(capsys.readouterr().err)
    expected = {"event": "thing_done", "size": 3, "request_id": "r1", "tenant_id": "t1", "job_id": "7", "level": "info"}
    assert expected.items() <= line.items()
    assert line["ts"].endswith("Z")


def test_a_librarys_line_and_its_traceback_are_one_json_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("INFO", "json")
    try:
        raise ValueError("broken")
    except ValueError:
        logging.getLogger("library").exception("failed %s", "here")
    line = json.loads(capsys.readouterr().err)
    assert line["event"] == "failed here"
    assert "ValueError: broken" in line["exception"]


def test_lines_below_the_level_are_left_out_and_console_text_is_readable(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("WARNING", "console")
    logger("test").info("not_shown")
    logger("test").warning("shown", reason="odd")
    text = capsys.readouterr().err
    assert "not_shown" not in text
    assert "shown" in text
    assert "reason" in text


def test_a_traceback_on_the_console_shows_no_local_variable(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("INFO", "console")

    def fail_with(password: str) -> None:
        raise ValueError("it failed")

    try:
        fail_with("-".join(["a", "secret"]))
    except ValueError:
        logger("test").exception("request_failed")
    said = capsys.readouterr().err
    assert "it failed" in said
    assert "a-secret" not in said
