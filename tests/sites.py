"""Servers that tests hand on: to furnish one takes longer than most tests, and only the Mnemon behind it differs."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI

from mnemon.app import Mnemon
from mnemon.mcp.door import Local
from mnemon.mcp.server import AgentServer, create_server
from mnemon.web.site import create_site

# By the settings they were made with, since they read some of them only then.
_idle_sites: dict[str, list[FastAPI]] = defaultdict(list)
_idle_agents: dict[str, list[AgentServer]] = defaultdict(list)


@contextmanager
def site_of(mnemon: Mnemon) -> Iterator[FastAPI]:
    """The whole site of this Mnemon, until the end of the block."""
    idle = _idle_sites[_kind(mnemon)]
    site = idle.pop() if idle else create_site(mnemon)
    site.state.mnemon = mnemon
    _put_behind(site.state.agents, mnemon, None)
    yield site
    idle.append(site)


@contextmanager
def agents_of(mnemon: Mnemon, local: Local) -> Iterator[AgentServer]:
    """The MCP server of this Mnemon, for this caller."""
    idle = _idle_agents[_kind(mnemon)]
    server = idle.pop() if idle else create_server(mnemon, local)
    _put_behind(server, mnemon, local)
    yield server
    idle.append(server)


def _kind(mnemon: Mnemon) -> str:
    return mnemon.settings.model_dump_json(exclude={"home"})


def _put_behind(server: AgentServer, mnemon: Mnemon, local: Local | None) -> None:
    assert server.door is not None
    server.door.mnemon, server.door.local = mnemon, local
