"""Claims about the tools that say how Mnemon is."""

import asyncio

import pytest

from mnemon import readiness
from mnemon.app import Mnemon
from mnemon.identity.roles import Principal
from mnemon.readiness import PartState
from tests.mcp.conftest import Agent, content, reading


async def test_a_slow_model_leaves_the_server_in_service(
    agent: Agent, mnemon: Mnemon, person: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent() -> PartState:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(readiness, "CHECK_LIMIT", 0.01)
    mnemon.checks = {"embedder": silent}
    async with agent(reading(person)) as client:
        status = content(await client.call_tool("status", {}))
        assert status["ok"] is True
        assert status["parts"]["embedder"]["ok"] is False
        mnemon.checks["database"] = silent
        assert content(await client.call_tool("status", {}))["ok"] is False


async def test_a_missing_model_is_named_with_its_remedy(agent: Agent) -> None:
    async with agent() as client:
        health = content(await client.call_tool("embedding_health", {}))
    assert health["available"] is False
    assert health["error"]
