"""Where a running server is, as commands of the same home know it."""

import os
from pathlib import Path

import orjson

from mnemon.serving import FILE, served_address, telling_address


def test_the_address_is_known_while_the_server_runs(tmp_path: Path) -> None:
    assert served_address(tmp_path) is None
    with telling_address(tmp_path, "http://127.0.0.1:9341"):
        assert served_address(tmp_path) == "http://127.0.0.1:9341"
    assert served_address(tmp_path) is None


def test_a_server_that_was_killed_is_not_believed(tmp_path: Path) -> None:
    gone = os.fork()
    if gone == 0:
        os._exit(0)
    os.waitpid(gone, 0)
    (tmp_path / FILE).write_bytes(orjson.dumps({"url": "http://127.0.0.1:1", "pid": gone}))
    assert served_address(tmp_path) is None
    (tmp_path / FILE).write_bytes(b"half a fi")
    assert served_address(tmp_path) is None


def test_another_servers_file_is_left_alone(tmp_path: Path) -> None:
    with telling_address(tmp_path, "http://127.0.0.1:1"):
        (tmp_path / FILE).write_bytes(orjson.dumps({"url": "http://127.0.0.1:2", "pid": os.getppid()}))
    assert (tmp_path / FILE).exists()
