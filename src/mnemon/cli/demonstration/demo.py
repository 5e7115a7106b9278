"""`mnemon demo`: start everything in an empty folder, use it as a stranger would, and clean up."""

import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from mnemon import __version__
from mnemon.app import Mnemon, open_mnemon
from mnemon.beside import working_inside
from mnemon.cli.context import on_its_own, run_async, settings_for_command
from mnemon.cli.demonstration.demo_documents import DECIDED, QUESTIONS, UNANSWERABLE, ask, open_old_version, take_in
from mnemon.cli.demonstration.demo_events import read_events
from mnemon.cli.demonstration.demo_log import record_a_decision, tamper
from mnemon.cli.demonstration.demo_mail import read_a_list
from mnemon.cli.demonstration.demo_stage import DemoClient, result, step, told
from mnemon.cli.output import Json, console, say, show
from mnemon.documents.samples import sample_corpus
from mnemon.identity.login import add_login_link
from mnemon.identity.tenants import add_tenant
from mnemon.log.events import OPERATOR


@on_its_own("It shows the doors, on a database of its own.")
def demo(
    as_json: Json = False,
    serve: Annotated[
        bool | None, typer.Option(help="Go on serving the pages until Ctrl-C; in a terminal, unless told otherwise.")
    ] = None,
) -> None:
    """Show what Mnemon does, on an embedded database that is removed afterwards."""
    told.quiet = as_json
    goes_on = not as_json and (sys.stdin.isatty() and sys.stdout.isatty() if serve is None else serve)
    home = Path(tempfile.mkdtemp(prefix="mnemon-demo-"))
    ready: dict[str, Any] = {}
    try:
        run_async(_tour(home, ready, goes_on))
    except KeyboardInterrupt:
        # How one ends to look around; before that it ends the demo.
        if not (goes_on and ready):
            raise
    finally:
        shutil.rmtree(home, ignore_errors=True)
    show({"works": True, "ready": ready, "steps": told.steps}, as_json, _farewell)


def _farewell() -> None:
    console.print("\n[bold green]All of it works.[/] The demo's data is gone again. To go on with yours:\n")
    for command, meaning in (
        ("mnemon serve", "the web page; prints a login link"),
        (f"mnemon add {_short(sample_corpus())}", "take these files in, or your own"),
        ("mnemon ask WORDS…", "an answer with citations, or a refusal"),
    ):
        # A long path has a line of its own.
        say(f"  {command:<29} {meaning}" if len(command) < 30 else f"  {command}\n{'':32}{meaning}")
    say("\nIn the repository `make serve` does the first; docs/guide/start.md goes on.")


def _short(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


async def _tour(home: Path, ready: dict[str, Any], goes_on: bool) -> None:
    if not told.quiet:
        console.print(f"[bold]Mnemon {__version__}[/]: evidence-first memory for teams and their AI agents.")
    async with _running(home) as (mnemon, caller):
        await _log_in(mnemon, caller)
        policy = await take_in(caller)
        for question in QUESTIONS:
            await ask(caller, question)
        await ask(caller, UNANSWERABLE)
        await open_old_version(caller, policy)
        await read_events(caller)
        await ask(caller, DECIDED)
        await read_a_list(mnemon, caller)
        await _keep_tenants_apart(mnemon)
        await record_a_decision(caller)
        await tamper(mnemon)
        ready.update(await caller.get("/ready"))
        if goes_on:
            await _look_around(mnemon)


async def _look_around(mnemon: Mnemon) -> None:
    """The pages with what the demo has taken in, until Ctrl-C."""
    assert mnemon.first_start is not None
    async with mnemon.log.transaction(mnemon.first_start.tenant_id) as transaction:
        secret = await add_login_link(transaction, OPERATOR, mnemon.first_start.user_id)
    console.print("\n[bold green]All of it works.[/] See for yourself; this link lets you in once:\n")
    say(f"  {mnemon.login_url(secret)}\n")
    say(f"Ask “{QUESTIONS[0]}” and click the number: the words that prove it are marked.")
    say("Under More, Integrity, Verify now, the change above is caught once more. Ctrl-C ends it.")
    await asyncio.Event().wait()


@asynccontextmanager
async def _running(home: Path) -> AsyncIterator[tuple[Mnemon, DemoClient]]:
    from mnemon.web.site import listening_socket, site_server

    began = time.perf_counter()
    settings = settings_for_command(
        home=home, host="127.0.0.1", port=0, auth_enabled=True, database_linger_seconds=0, log_level="WARNING",
        worker_inside=True,
    ).model_copy(update={"database_url": None, "language_model": None})  # fmt: skip
    with listening_socket(settings) as listener:
        settings = settings.model_copy(update={"port": listener.getsockname()[1]})
        async with open_mnemon(settings) as mnemon, working_inside(mnemon):
            server = site_server(mnemon)
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            caller = DemoClient(f"http://127.0.0.1:{settings.port}")
            step("Start", f"an embedded PostgreSQL and the server at {caller.url}")
            health = await caller.get("/health")
            result(f"GET /health says {health['status']} after {time.perf_counter() - began:.1f} s; no key, no account")
            try:
                yield mnemon, caller
            finally:
                await caller.close()
                server.stop()
                await serving


async def _log_in(mnemon: Mnemon, caller: DemoClient) -> None:
    assert mnemon.first_start is not None
    session = await caller.post("/v1/auth/link", {"link": mnemon.first_start.link_secret})
    caller.log_in(session["access_token"])
    me = await caller.get("/v1/me")
    result(f"logged in with the link of the first start: {me['email']}, {me['role']}")


async def _keep_tenants_apart(mnemon: Mnemon) -> None:
    step("Ask", "the same as another tenant of the same server")
    async with mnemon.database.owner() as owner, owner.transaction():
        tenant, _ = await add_tenant(mnemon.log, owner, OPERATOR, "globex", "Globex")
    answer = await mnemon.asking.ask(tenant.tenant_id, OPERATOR, DECIDED)
    assert answer.refusal is not None, "a tenant was answered from another one's files"
    result(f"No answer. {answer.refusal.message}")
