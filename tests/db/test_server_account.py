"""The user that root starts the server as is made once, however many processes need it first."""

import os
import secrets
import subprocess
import sys

import pytest

FIRST_NEED = """
import sys
from mnemon.db import cluster
cluster.SERVER_USER = sys.argv[1]
print("ready", flush=True)
sys.stdin.readline()
print(cluster._server_account().pw_uid)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes users")
def test_processes_that_need_the_servers_user_at_once_agree_on_it():
    name = f"mnemon-test-{secrets.token_hex(4)}"
    command = [sys.executable, "-c", FIRST_NEED, name]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) for _ in range(6)
    ]
    try:
        for process in processes:
            assert process.stdout.readline() == "ready\n"
        told = {process.communicate(timeout=60)[0].strip() for process in _released(processes)}
        assert told == {subprocess.run(["id", "-u", name], capture_output=True, text=True, check=True).stdout.strip()}
    finally:
        subprocess.run(["userdel", name], capture_output=True)


def _released(processes: list[subprocess.Popen[str]]) -> list[subprocess.Popen[str]]:
    """Let all go on before any is waited for."""
    for process in processes:
        process.stdin.write("\n")
    return processes
