"""The MCP door: callers are proven, tools belong to a profile, failures are results, both transports answer."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import MCPServer
from mcp_types import ResourceLink

from mcp import Client
from mnemon.app import Mnemon, open_mnemon
from mnemon.identity.bootstrap import administrator_without_login
from mnemon.identity.roles import Action, CredentialScope
from mnemon.identity.tokens import add_token
from mnemon.log.events import SYSTEM
from mnemon.mcp import http
from mnemon.mcp.door import AgentCaller, AgentDoor
from mnemon.mcp.http import LARGEST_CALL
from mnemon.mcp.links import Linked, link
from mnemon.mcp.schemas import RARE
from mnemon.mcp.server import AgentServer, create_server
from mnemon.settings import Settings
from mnemon.telemetry import REGISTRY
from mnemon.web.site import listening_socket, site_server
from tests.conftest import MakeHome, new_folder
from tests.mcp.conftest import refusal
from tests.patience import PATIENCE

CORE = {"remember", "recall", "forget", "ask", "search", "event_search", "status", "add", "open"}
FULL = {
    "memory_store", "memory_search", "memory_list", "memory_delete", "history_append", "history_get", "hybrid_search",
    "artifact_ingest", "artifact_search", "artifact_get", "artifact_delete", "embedding_health", "event_get",
    "event_list_for_revision", "event_reextract", "event_mark", "event_edit", "event_merge", "event_split",
    "event_link", "event_unlink", "event_undo", "job_status", "mail_search", "mail_threads", "mail_thread",
    "mail_consensus", "mail_report",
}  # fmt: skip
# On a machine that has much else to do.
JSON = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
HELLO: dict[str, Any] = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
}  # fmt: skip


@pytest.fixture(scope="module")
async def site(open_folder: Path, make_home: MakeHome) -> AsyncIterator[Mnemon]:
    """The server on a real port, on a home of its own, as `mnemon serve` runs it."""
    home = make_home(new_folder(open_folder, "mcp"))
    settings = Settings(home=home, port=0, database_linger_seconds=0)
    with listening_socket(settings) as listener:
        chosen = settings.model_copy(update={"port": listener.getsockname()[1]})
        async with open_mnemon(chosen) as mnemon:
            server = site_server(mnemon)
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            yield mnemon
            server.should_exit = True
            await serving


async def token_of(mnemon: Mnemon, scope: CredentialScope) -> str:
    admin = await administrator_without_login(mnemon.database)
    async with mnemon.log.transaction(admin.tenant_id) as transaction:
        return (await add_token(transaction, SYSTEM, admin.user_id, "an agent", scope)).secret


@asynccontextmanager
async def over_http(mnemon: Mnemon, headers: dict[str, str], mode: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
        Client(streamable_http_client(f"{mnemon.url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_token_opens_the_tools_over_http_in_both_eras(site: Mnemon, mode: str) -> None:
    secret = await token_of(site, CredentialScope.READ)
    async with over_http(site, {"Authorization": f"Bearer {secret}"}, mode) as client:
        answer = await client.call_tool("status", {})
        assert answer.structured_content is not None
        assert answer.structured_content["parts"]["database"]["ok"] is True
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert names == CORE, "only the core profile is offered by default"


async def test_without_a_credential_nothing_is_said(site: Mnemon) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    async with httpx2.AsyncClient(timeout=PATIENCE) as http:
        silent = await http.post(f"{site.url}/mcp", json=request, headers=headers)
        wrong = await http.post(
            f"{site.url}/mcp", json=request, headers={**headers, "Authorization": "Bearer mnemon_pat_nonsense"}
        )
    assert silent.status_code == wrong.status_code == 401
    assert silent.headers["www-authenticate"] == "Bearer"
    assert silent.json()["error_code"] == "NOT_AUTHENTICATED"


async def test_a_session_belongs_to_the_credential_that_opened_it(site: Mnemon) -> None:
    opener, thief = await token_of(site, CredentialScope.READ), await token_of(site, CredentialScope.READ)
    async with httpx2.AsyncClient(headers=JSON, timeout=PATIENCE) as http:
        opened = await http.post(f"{site.url}/mcp", json=HELLO, headers={"Authorization": f"Bearer {opener}"})
        session = opened.headers["mcp-session-id"]
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
        answers = [
            await http.post(
                f"{site.url}/mcp",
                json=listing,
                headers={"Authorization": f"Bearer {secret}", "Mcp-Session-Id": session},
            )
            for secret in (opener, thief)
        ]
    assert [answer.status_code for answer in answers] == [200, 404]


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25"])
async def test_a_client_of_any_revision_is_answered(site: Mnemon, revision: str) -> None:
    hello = {**HELLO, "params": {**HELLO["params"], "protocolVersion": revision}}
    call = {"name": "remember", "arguments": {"content": "Older clients remember too."}}
    headers = JSON | {"Authorization": f"Bearer {await token_of(site, CredentialScope.WRITE)}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as client:
        opened = await client.post(f"{site.url}/mcp", json=hello)
        client.headers |= {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": revision}
        await client.post(f"{site.url}/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        said = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
        answer = (await client.post(f"{site.url}/mcp", json=said)).text
    result = json.loads(answer.partition("data: ")[2])["result"]
    [block] = result["content"]
    assert (block["type"], block["text"].startswith("Kept: [")) == ("text", True)


@pytest.mark.parametrize(
    ("revision", "kinds"),
    [
        ("2024-11-05", ["text"]),
        ("2025-03-26", ["text"]),
        ("2025-06-18", ["text", "resource_link"]),
        ("2025-11-25", ["text", "resource_link"]),
    ],
)
async def test_a_client_gets_no_kind_of_content_that_its_revision_lacks(
    site: Mnemon, revision: str, kinds: list[str]
) -> None:
    class Pointing(Linked):
        said: str = "here"

        def places(self) -> list[ResourceLink]:
            return [link("mnemon://memory/1", "a memory")]

    result = AgentDoor(site, AgentServer(), "full", None)._shown(Pointing(), revision)
    assert [one.type for one in result.content] == kinds
    assert result.structured_content == {"said": "here"}


async def test_one_credential_does_not_use_up_the_sessions_of_all(
    site: Mnemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MOST_SESSIONS", 2)
    careless, other = await token_of(site, CredentialScope.READ), await token_of(site, CredentialScope.READ)

    async def opened(secret: str) -> httpx2.Response:
        return await client.post(f"{site.url}/mcp", json=HELLO, headers={"Authorization": f"Bearer {secret}"})

    async with httpx2.AsyncClient(headers=JSON, timeout=PATIENCE) as client:
        answers = [await opened(careless) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert answers[2].json()["error_code"] == "TOO_MANY_REQUESTS"
        assert (await opened(other)).status_code == 200
        ending = {"Authorization": f"Bearer {careless}", "Mcp-Session-Id": answers[0].headers["mcp-session-id"]}
        await client.delete(f"{site.url}/mcp", headers=ending)
        assert (await opened(careless)).status_code == 200
    async with over_http(site, {"Authorization": f"Bearer {careless}"}, "auto") as stateless:
        assert not (await stateless.call_tool("status", {})).is_error, "the newest revision needs no session"


@pytest.mark.parametrize(
    ("named", "status"),
    [({"Host": "evil.example"}, 421), ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403)],
)
async def test_a_foreign_page_is_refused(site: Mnemon, named: dict[str, str], status: int) -> None:
    """Such a page may have pointed its own name at this machine, or send a request across."""
    headers = JSON | {"Authorization": f"Bearer {await token_of(site, CredentialScope.READ)}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        assert (await http.post(f"{site.url}/mcp", json=HELLO)).status_code == 200
        assert (await http.post(f"{site.url}/mcp", json=HELLO, headers=named)).status_code == status


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_call_that_is_longer_than_other_requests_is_heard(site: Mnemon, mode: str) -> None:
    secret = await token_of(site, CredentialScope.WRITE)
    text = "é" * site.settings.request_max_bytes
    async with over_http(site, {"Authorization": f"Bearer {secret}"}, mode) as client:
        assert refusal(await client.call_tool("remember", {"content": text}))["error_code"] == "VALIDATION_ERROR"
        assert not (await client.call_tool("status", {})).is_error, "and the connection goes on"


async def test_a_call_without_end_is_refused(site: Mnemon) -> None:
    headers = {
        "Authorization": f"Bearer {await token_of(site, CredentialScope.READ)}",
        "Content-Type": "application/json",
    }

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(LARGEST_CALL // 1_048_576 + 2):
            yield b" " * 1_048_576

    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        answer = await http.post(f"{site.url}/mcp", content=endless())
    assert answer.status_code == 413


async def test_a_failure_is_a_result_with_its_code(site: Mnemon) -> None:
    admin = await administrator_without_login(site.database)
    server: MCPServer[Any] = MCPServer("test")
    reader = AgentDoor(site, server, "core", None)
    reader.local = type(admin)(admin.tenant_id, admin.user_id, admin.role, CredentialScope.READ, admin.user_id)

    @reader.tool(Action.UPLOAD_DOCUMENTS, title="Write", core=True)
    async def write(caller: AgentCaller, text: str) -> str:
        return text

    async with Client(server) as client:
        answer = await client.call_tool("write", {"text": "hello"})
        assert refusal(answer)["error_code"] == "NOT_ALLOWED"
        assert "caller" not in str((await client.list_tools()).tools[0].input_schema)


async def test_a_tool_that_is_not_there_is_refused_with_those_that_are(site: Mnemon) -> None:
    admin = await administrator_without_login(site.database)
    async with Client(create_server(site, local=admin)) as client:
        answer = await client.call_tool("artifact_get", {"artifact_uid": "uid_1"})
    error = refusal(answer)
    assert error["error_code"] == "NOT_FOUND"
    assert set(error["details"]["known"]) == CORE, "the profile of this server lacks it"


async def test_every_answer_is_one_line_of_json_for_older_clients(site: Mnemon) -> None:
    async with Client(create_server(site, local=await administrator_without_login(site.database))) as client:
        answer = await client.call_tool("status", {})
    text = getattr(answer.content[0], "text", "")
    assert json.loads(text) == answer.structured_content and "\n" not in text


async def test_the_core_profile_spares_what_only_programs_read(site: Mnemon) -> None:
    """Answers keep their form; what may be left out is not told twice."""
    async with Client(create_server(site, local=await administrator_without_login(site.database))) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        answer = await client.call_tool("status", {})
        long = await client.call_tool("search", {"query": "x" * 2001})
    assert long.is_error and "query" in long.content[0].text, "what is not told holds all the same"
    assert all(tool.output_schema is None for tool in tools.values())
    assert answer.structured_content and "parts" in answer.structured_content
    tag = tools["search"].input_schema["properties"]["tag"]
    assert tag["type"] == "string" and "default" not in tag and "tag" not in tools["search"].input_schema["required"]
    fields = [field for tool in tools.values() for field in tool.input_schema["properties"].values()]
    assert not any(field.keys() & {"maxLength", "examples", "title"} for field in fields)
    assert not any(tool.annotations and tool.annotations.title for tool in tools.values())
    for tool in tools.values():
        needed = set(tool.input_schema.get("required", ()))
        assert not RARE & tool.input_schema["properties"].keys() - needed, tool.name
    read, write = tools["search"].annotations, tools["forget"].annotations
    assert read and read.read_only_hint and write and write.destructive_hint and not write.read_only_hint


async def test_the_full_profile_has_every_tool(site: Mnemon, monkeypatch: pytest.MonkeyPatch) -> None:
    admin = await administrator_without_login(site.database)
    monkeypatch.setattr(site, "settings", site.settings.model_copy(update={"mcp_tools": "full"}))
    async with Client(create_server(site, local=admin)) as client:
        tools = (await client.list_tools()).tools
    assert {tool.name for tool in tools} == CORE | FULL
    for tool in tools:
        assert tool.description and tool.output_schema, tool.name
        assert tool.annotations is not None and tool.annotations.title, tool.name


@pytest.mark.parametrize(
    ("failure", "code"),
    [(RuntimeError, "INTERNAL"), (psycopg.OperationalError, "DATABASE_UNAVAILABLE")],
)
async def test_a_crash_says_nothing_of_its_cause_and_is_counted(
    site: Mnemon, failure: type[Exception], code: str
) -> None:
    server: MCPServer[Any] = MCPServer("test")
    door = AgentDoor(site, server, "core", await administrator_without_login(site.database))

    @door.tool(Action.QUERY, title="Crash", core=True)
    async def crash(caller: AgentCaller) -> str:
        raise failure("the secret is 1234")

    async with Client(server) as client:
        answer = await client.call_tool("crash", {})
    assert refusal(answer)["error_code"] == code
    assert "1234" not in str(answer)
    assert REGISTRY.get_sample_value("mnemon_mcp_calls_total", {"tool": "crash", "outcome": code}) == 1


async def test_a_client_talks_to_the_command_over_standard_input(served_home: Path) -> None:
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "mnemon", "mcp", "--tools", "full"],
        env={**os.environ, "MNEMON_HOME": str(served_home), "MNEMON_DATABASE_LINGER_SECONDS": "0"},
    )  # fmt: skip
    async with Client(stdio_client(command)) as client:
        answer = await client.call_tool("status", {})
    assert answer.structured_content is not None
    assert answer.structured_content["ok"] is True, answer.structured_content


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_command_passes_on_to_a_server_that_it_is_told_of(site: Mnemon, mode: str, tmp_path: Path) -> None:
    """A teammate's agent starts `mnemon mcp`, and is answered by the server, not by an empty home."""
    secret = await token_of(site, CredentialScope.WRITE)
    told = {"MNEMON_HOME": str(tmp_path), "MNEMON_SERVER": site.url, "MNEMON_SERVER_TOKEN": secret}
    command = StdioServerParameters(command=sys.executable, args=["-m", "mnemon", "mcp"], env={**os.environ, **told})
    words = f"The {mode} gate is green."
    async with Client(stdio_client(command), mode=mode) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == CORE
        kept = await client.call_tool("remember", {"content": words})
        assert not kept.is_error, kept.content
        assert words in (await client.call_tool("recall", {"query": words})).content[0].text
    async with Client(create_server(site, local=await administrator_without_login(site.database))) as there:
        assert words in (await there.call_tool("recall", {"query": words})).content[0].text
    assert list(tmp_path.iterdir()) == [], "nothing was begun here"
