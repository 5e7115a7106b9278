"""A file is known by its path, and at a server elsewhere by its machine too."""

import socket
from pathlib import Path

import pytest

from mnemon.documents.intake.file_address import file_address, file_at

HERE = Path("/tmp/the plan.md")


@pytest.fixture(autouse=True)
def this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "Otter")


@pytest.mark.parametrize(
    "server", [None, "http://localhost:8787", "http://127.0.0.1:8787", "http://[::1]:8787", "https://127.0.0.2/mnemon"]
)
def test_on_this_machine_the_path_is_enough(server: str | None) -> None:
    assert file_address(HERE, server) == "file:///tmp/the%20plan.md"


def test_two_machines_with_the_same_path_have_two_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = file_address(HERE, "https://mnemon.example.org")
    assert mine == "file://otter/tmp/the%20plan.md"
    assert file_at(mine) == HERE
    monkeypatch.setattr(socket, "gethostname", lambda: "badger")
    assert file_address(HERE, "https://mnemon.example.org") == "file://badger/tmp/the%20plan.md"
    assert file_at(mine) is None, "whether it is gone there, nobody here can tell"


def test_what_has_no_machine_is_a_file_here() -> None:
    assert file_at("file:///tmp/the%20plan.md") == file_at("file://localhost/tmp/the%20plan.md") == HERE
    assert file_at("https://example.org/plan.md") is None
