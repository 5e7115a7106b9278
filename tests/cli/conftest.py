"""Running the command: in this process where only its words and its answer count, since starting one takes a second."""

import contextlib
import logging
import subprocess
import sys
from collections.abc import Iterator, Mapping
from unittest import mock

import pytest
import structlog
from typer.testing import CliRunner

from mnemon.cli.main import run
from tests.logs import log_plainly
from tests.patience import PATIENCE


@pytest.fixture(autouse=True, scope="module")
def own_logging() -> Iterator[None]:
    """A command sets up logging for its process, which here is everybody's."""
    handlers, level = logging.root.handlers, logging.root.level
    yield
    logging.root.handlers = handlers
    logging.root.setLevel(level)
    structlog.reset_defaults()
    log_plainly()


def mnemon(environment: Mapping[str, str], *words: object, text: str = "") -> subprocess.CompletedProcess[str]:
    """`mnemon WORDS` with all that its process would do: the same streams, error lines and exit code."""
    given = ["mnemon", *map(str, words)]
    status = 0
    with (
        CliRunner().isolation(input=text, env=environment) as (said, complained, _),
        contextlib.chdir(environment["MNEMON_HOME"].rsplit("/", 1)[0]),
        mock.patch.object(sys, "argv", given),
    ):
        try:
            run()
        except SystemExit as ending:
            status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        sys.stdout.flush()
        sys.stderr.flush()
        return subprocess.CompletedProcess(given, status, said.getvalue().decode(), complained.getvalue().decode())


def mnemon_process(environment: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own, for what takes the whole process into use."""
    command = [sys.executable, "-m", "mnemon", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=4 * PATIENCE)
