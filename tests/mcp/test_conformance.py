"""The public conformance suite and the inspector, run against our server as `mnemon serve` runs it."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mnemon.app import Mnemon, open_mnemon
from mnemon.identity.roles import CredentialScope
from mnemon.mcp import server
from mnemon.settings import Settings
from mnemon.web.site import listening_socket, site_server
from tests.mcp import conformance_fixtures, npm_suite
from tests.mcp.test_door import token_of

pytestmark = pytest.mark.slow

# Scenarios that the suite runs without scoring them, and that do not apply here. The guide gives the reasons.
EXTENSION_OF_TASKS = {
    "tasks-lifecycle", "tasks-capability-negotiation", "tasks-wire-fields", "tasks-request-state-removal",
    "tasks-mrtr-input", "tasks-request-headers", "tasks-dispatch-and-envelope", "tasks-required-task-error",
    "tasks-mrtr-composition",
}  # fmt: skip
NOT_APPLICABLE = {
    "2026-07-28": EXTENSION_OF_TASKS,
    "2025-11-25": {"server-sse-polling"},
}
SCORED = {"2026-07-28": 37, "2025-11-25": 30}
# How the inspector ends when a tool answers with an error.
FAILED = 5
LINE = re.compile(r"^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed", re.MULTILINE)


@asynccontextmanager
async def serving(home: Path, **chosen: Any) -> AsyncIterator[Mnemon]:
    settings = Settings(home=home, port=0, database_linger_seconds=0, **chosen)
    with listening_socket(settings) as listener:
        ported = settings.model_copy(update={"port": listener.getsockname()[1]})
        async with open_mnemon(ported) as mnemon:
            site = site_server(mnemon)
            task = asyncio.create_task(site.serve(sockets=[listener]))
            try:
                yield mnemon
            finally:
                site.should_exit = True
                await task


@pytest.fixture
def suite() -> None:
    npm_suite.install()


async def test_every_scenario_that_applies_passes_in_both_eras(
    home: Path, suite: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "ROOMS", (*server.ROOMS, conformance_fixtures.add))
    async with serving(home, auth_enabled=False, mcp_tools="full", embedder="none") as mnemon:
        for revision, exempt in NOT_APPLICABLE.items():
            code, output = await npm_suite.run(
                "conformance", "server", "--url", f"{mnemon.url}/mcp", "--requirements", revision
            )
            results = {name: mark == "✓" for mark, name, *_ in LINE.findall(output)}
            failing = {name for name, passed in results.items() if not passed}
            assert failing == exempt, output[-4000:]
            assert len(results.keys() - exempt) >= SCORED[revision], output[-4000:]
            assert code == 0, output[-4000:]


async def test_the_inspector_lists_and_calls_our_tools(home: Path, suite: None) -> None:
    async with serving(home, mcp_tools="full", embedder="none") as mnemon:
        token = await token_of(mnemon, CredentialScope.WRITE)
        door = ["--cli", f"{mnemon.url}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {token}"]
        listed = await inspected(*door, "--method", "tools/list")
        assert {"remember", "event_search", "artifact_ingest"} <= {tool["name"] for tool in listed["tools"]}
        said = ["--tool-name", "remember", "--tool-arg", "content=The inspector was here."]
        kept = await inspected(*door, "--method", "tools/call", *said)
        memory = kept["structuredContent"]["memory"]
        opened = await inspected(*door, "--method", "resources/read", "--uri", memory["uri"])
        assert opened["contents"][0]["text"] == "The inspector was here."
        assert await inspected(*door, "--method", "prompts/list")
        wrong = ["--tool-name", "event_search", "--tool-arg", "category=Gossip"]
        refused = await inspected(*door, "--method", "tools/call", *wrong, code=FAILED)
        assert refused["isError"] and json.loads(refused["content"][0]["text"])["error_code"] == "VALIDATION_ERROR"


async def inspected(*arguments: str, code: int = 0) -> dict[str, Any]:
    ended, output = await npm_suite.run("mcp-inspector", *arguments)
    assert ended == code, output[-3000:]
    answer: dict[str, Any]
    answer, _ = json.JSONDecoder().raw_decode(output, output.index("{"))
    return answer
