"""Agents of a tenant: each a client of the whole server, as its credential lets it act."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from mcp_types import CallToolResult, TextContent

from mcp import Client
from mnemon.app import Mnemon
from mnemon.identity.roles import CredentialScope, Principal, Role
from mnemon.ids import new_uuid
from mnemon.settings import Settings
from tests.api.conftest import mnemon
from tests.semantics.conftest import added, all_done, quick_retries, reader, work
from tests.sites import agents_of
from tests.work.conftest import eventually

__all__ = ["added", "all_done", "eventually", "mnemon", "quick_retries", "reader", "work"]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, embedder="none", mcp_tools="full")


@pytest.fixture
def person(tenant: UUID) -> Principal:
    return Principal(tenant, new_uuid(), Role.ADMIN)


Agent = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def agent(mnemon: Mnemon, person: Principal) -> Agent:
    """Open a client as this person, or as the one given; what else is given goes to the client."""

    @asynccontextmanager
    async def opened(caller: Principal | None = None, **options: Any) -> AsyncIterator[Client]:
        with agents_of(mnemon, caller or person) as server:
            async with Client(server, **options) as client:
                yield client

    return opened


def reading(person: Principal) -> Principal:
    """The same person through a token that may only read."""
    return replace(person, scope=CredentialScope.READ, token_id=new_uuid())


def content(result: Any) -> dict[str, Any]:
    """The structured answer of a call that must have worked."""
    assert isinstance(result, CallToolResult)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


def refusal(result: Any) -> dict[str, Any]:
    """The error of a call that must have failed."""
    assert isinstance(result, CallToolResult)
    assert result.is_error, result.structured_content
    assert result.structured_content is None, "it would have to fit the tool's schema"
    [block] = result.content
    assert isinstance(block, TextContent)
    error: dict[str, Any] = json.loads(block.text)
    assert set(error) == {"error", "error_code", "details"}
    return error
