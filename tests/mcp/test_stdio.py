"""Claims about `mnemon mcp` as a client starts it: whose it is, and how it ends."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcp import Client
from mnemon.app import open_mnemon
from mnemon.cli.agents.mcp import _token
from mnemon.cli.reference import commands
from mnemon.errors import InvalidRequest
from mnemon.identity.bootstrap import administrator_without_login
from mnemon.identity.roles import CredentialScope
from mnemon.identity.tokens import add_token, revoke_token
from mnemon.log.events import SYSTEM
from mnemon.settings import Settings
from tests.mcp.conftest import refusal
from tests.patience import PATIENCE

COMMAND = [sys.executable, "-m", "mnemon", "mcp"]
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
}  # fmt: skip
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


def environment(home: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "MNEMON_HOME": str(home), "MNEMON_DATABASE_LINGER_SECONDS": "0", **more}


def line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


@asynccontextmanager
async def started(home: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """The command after its first answer."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), asyncio.subprocess.PIPE)
    process = await asyncio.create_subprocess_exec(*COMMAND, **pipes, env=environment(home))
    assert process.stdin and process.stdout
    try:
        process.stdin.write(line(HELLO))
        answer = json.loads(await asyncio.wait_for(process.stdout.readline(), PATIENCE))
        assert answer["result"]["protocolVersion"] == "2025-06-18"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_the_token_of_the_environment_decides_until_it_is_revoked(served_home: Path) -> None:
    async with open_mnemon(Settings(home=served_home, database_linger_seconds=0)) as mnemon:
        admin = await administrator_without_login(mnemon.database)
        async with mnemon.log.transaction(admin.tenant_id) as transaction:
            made = await add_token(transaction, SYSTEM, admin.user_id, "an agent", CredentialScope.READ)
        command = StdioServerParameters(
            command=COMMAND[0], args=COMMAND[1:], env=environment(served_home, MNEMON_TOKEN=made.secret)
        )
        async with Client(stdio_client(command)) as client:
            assert refusal(await client.call_tool("remember", {"content": "x"}))["error_code"] == "NOT_ALLOWED"
            allowed = await client.call_tool("recall", {"query": "x"})
            assert not allowed.is_error, allowed.content
            async with mnemon.log.transaction(admin.tenant_id) as transaction:
                await revoke_token(transaction, SYSTEM, made.token_id)
            late = await client.call_tool("recall", {"query": "x"})
            assert refusal(late)["error_code"] == "NOT_AUTHENTICATED"


def test_no_command_takes_a_token_as_an_argument() -> None:
    """Arguments stand in the shell's history and in the process list."""
    takes = [
        (one.words, option)
        for one in commands()
        for parameter in one.command.params
        for option in parameter.opts
        if re.fullmatch(r"--(.*-)?(token|secret|password)", option) and not parameter.is_flag
    ]
    assert takes == []


def test_a_token_is_read_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMON_TOKEN", "mnm_of_the_environment")
    (tmp_path / "token").write_text("mnm_of_the_file\n")
    assert _token(tmp_path / "token") == "mnm_of_the_file"
    assert _token(None) == "mnm_of_the_environment"
    (tmp_path / "token").write_text("\n")
    for wrong in (tmp_path / "token", tmp_path / "none"):
        with pytest.raises(InvalidRequest, match=str(wrong)):
            _token(wrong)


async def test_nobody_waits_for_the_answer_to_a_line_that_cannot_be_read(served_home: Path) -> None:
    half_an_emoji = (
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"recall","arguments":{"query":"\\ud83d"}}}'
    )
    async with started(served_home) as process:
        assert process.stdin and process.stdout
        for wrong in (half_an_emoji, b"no JSON", b"[" * 5000, b"[]", b'{"jsonrpc":"2.0","id":8,"result":"\\ud83d"}'):
            process.stdin.write(wrong + b"\n")
        process.stdin.write(line(PING))
        answers = [json.loads(await asyncio.wait_for(process.stdout.readline(), PATIENCE)) for _ in range(6)]
    assert [one["id"] for one in answers] == [7, None, None, None, None, 2]
    assert all(one["error"]["code"] == -32700 for one in answers[:5])
    assert answers[5]["result"] == {}, "and the conversation goes on"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_the_command_though_the_client_holds_on(served_home: Path, number: signal.Signals) -> None:
    async with started(served_home) as process:
        assert process.stderr
        process.send_signal(number)
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0, "gently: its jobs and the database are given back"
        assert await process.stderr.read() == b""


async def test_a_client_that_closes_its_end_is_no_failure(served_home: Path) -> None:
    async with started(served_home) as process:
        assert process.stdin and process.stderr
        process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]
        process.stdin.write(line(PING))
        process.stdin.close()
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
        assert await process.stderr.read() == b""
