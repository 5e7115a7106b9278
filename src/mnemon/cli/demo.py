"""`mnemon demo`: start everything in an empty folder, use it as a stranger would, and clean up."""

import asyncio
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mnemon import __version__
from mnemon.app import Mnemon, open_mnemon
from mnemon.cli.context import OPERATOR, run_async, settings_for_command
from mnemon.cli.demo_log import record_decisions, tamper
from mnemon.cli.demo_stage import Caller, result, step, told
from mnemon.cli.output import Json, console, show
from mnemon.identity.roles import Role
from mnemon.identity.tenants import add_tenant
from mnemon.identity.users import add_user


def demo(as_json: Json = False) -> None:
    """Show what Mnemon does, on an embedded database that is removed afterwards."""
    told.quiet = as_json
    home = Path(tempfile.mkdtemp(prefix="mnemon-demo-"))
    try:
        ready = run_async(_tour(home))
    finally:
        shutil.rmtree(home, ignore_errors=True)
    show({"works": True, "ready": ready, "steps": told.steps}, as_json, lambda: _farewell(ready))


def _farewell(ready: dict[str, Any]) -> None:
    parts = ", ".join(ready["parts"])
    console.print(f"\n[bold green]All of it works.[/] The server is {ready['status']}: {parts}.")
    console.print(
        "The demo's data is gone again. To keep yours: [bold]make serve[/], then open the link that it prints."
    )


async def _tour(home: Path) -> dict[str, Any]:
    if not told.quiet:
        console.print(f"[bold]Mnemon {__version__}[/]: evidence-first memory for teams and their AI agents.\n")
    async with _running(home) as (mnemon, caller):
        session = await _log_in(mnemon, caller)
        await _let_an_agent_in(caller, session)
        await _keep_tenants_apart(mnemon, caller)
        await _refuse_a_forgery(caller, session)
        await record_decisions(caller, session)
        await tamper(mnemon)
        ready: dict[str, Any] = await caller.get("/ready")
        return ready


@asynccontextmanager
async def _running(home: Path) -> AsyncIterator[tuple[Mnemon, Caller]]:
    from mnemon.web.site import listening_socket, site_server

    began = time.perf_counter()
    settings = settings_for_command(
        home=home, host="127.0.0.1", port=0, auth_enabled=True, database_linger_seconds=0, log_level="WARNING"
    ).model_copy(update={"database_url": None})
    with listening_socket(settings) as listener:
        settings = settings.model_copy(update={"port": listener.getsockname()[1]})
        async with open_mnemon(settings) as mnemon:
            server = site_server(mnemon)
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            caller = Caller(f"http://127.0.0.1:{settings.port}")
            step("Start", f"an embedded PostgreSQL and the server at {caller.url}")
            health = await caller.get("/health")
            result(f"GET /health says {health['status']} after {time.perf_counter() - began:.1f} s; no key, no account")
            try:
                yield mnemon, caller
            finally:
                server.should_exit = True
                await serving


async def _log_in(mnemon: Mnemon, caller: Caller) -> str:
    assert mnemon.first_start is not None
    secret = mnemon.first_start.link_secret
    step("Log in", "with the one-time link of the first start")
    session = await caller.post("/v1/auth/link", {"link": secret})
    me = await caller.get("/v1/me", session["access_token"])
    result(f"GET /v1/me: {me['email']}, {me['role']} of {me['tenant']}")
    again = await caller.post("/v1/auth/link", {"link": secret})
    result(f"the same link again: {again['error_code']}")
    return str(session["access_token"])


async def _let_an_agent_in(caller: Caller, session: str) -> None:
    step("Let an agent in", "with an access token that may only read")
    token = await caller.post("/v1/tokens", {"name": "notes agent", "scope": "read", "days": 30}, session)
    me = await caller.get("/v1/me", token["secret"])
    result(f"it reads: scope {me['scope']}, for {me['email']}")
    refused = await caller.post("/v1/events", {"events": []}, token["secret"])
    result(f"it cannot write: {refused['error']}")


async def _keep_tenants_apart(mnemon: Mnemon, caller: Caller) -> None:
    step("Add a second tenant", "and look at its users with no WHERE clause")
    async with mnemon.database.owner() as owner, owner.transaction():
        tenant, transaction = await add_tenant(mnemon.log, owner, OPERATOR, "globex", "Globex")
        await add_user(transaction, OPERATOR, "gus@globex.example", Role.ADMIN)
    async with mnemon.database.transaction(tenant.tenant_id) as tx:
        rows = await (await tx.execute("SELECT email FROM mnemon.users")).fetchall()
    result(f"SELECT email FROM mnemon.users: {', '.join(row['email'] for row in rows)}, and nobody else's")


async def _refuse_a_forgery(caller: Caller, session: str) -> None:
    step("Forge a session", "by changing the payload of a signed one")
    head, payload, signature = session.split(".")
    forged = await caller.get("/v1/me", f"{head}.{payload[::-1]}.{signature}")
    result(f"{forged['error_code']}: {forged['error']}")
