"""Milliseconds of every page's HTML at 100,000 documents and a million semantic events, asked for over a socket.

`web_workload` says what is in the database and how it came there. KEEP=FOLDER keeps the filled database there, or
measures the one that is there already.
"""

import asyncio
import json
import os
import re
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import structlog
from fastapi.routing import APIRoute
from web_workload import Volume, fill

from mnemon.app import Mnemon, open_mnemon
from mnemon.beside import working_inside
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.identity.login import add_login_link
from mnemon.identity.tenants import tenant_by_slug
from mnemon.log.events import SYSTEM
from mnemon.mail.consensus.threads import is_reading
from mnemon.settings import Settings
from mnemon.web.pages import PARTS
from mnemon.web.site import listening_socket, site_server
from mnemon.web.workbench.bench import WORKBENCH

QUICK = bool(os.environ.get("QUICK"))
VOLUME = Volume(2_000, 50_000, 2_000, 50) if QUICK else Volume(100_000, 1_000_000, 200_000, 1_000)
TIMES = 5 if QUICK else 15
# What a page is called here, and where it is. Single things are added once they are known.
PAGES = {
    "ask": "/", "search": "/search?query=quarterly+pipeline", "events": "/events",
    "events_of_a_category": "/events?category=Decision", "events_as_of": "/events?as_of=2024-06-01",
    "events_by_words": "/events?query=pipeline", "events_of_a_person": "/events?actor=Ada+Byron",
    "commitments": "/events/commitments", "people": "/events/people", "person": "/events/people?person=Ada+Byron",
    "documents": "/documents", "documents_found": "/documents?search=Report+77",
    "documents_all": "/documents?status=all",
    "documents_last": "/documents?page=100", "upload": "/upload", "runs": "/runs", "runs_failed": "/runs?status=failed",
    "memory": "/memory", "memory_found": "/memory?query=hosting", "memory_new": "/memory/new",
    "branches": "/memory/branches", "graph": "/memory/graph", "log": "/log",
    "log_of_a_type": "/log?stream_type=type&stream_id=bench.order.placed", "integrity": "/integrity",
    "subscriptions": "/subscriptions", "work": "/work", "privacy": "/privacy",
    "person_held": "/privacy/person?subject_id=nobody", "approvals": "/approvals", "users": "/users",
    "user_changes": "/users/changes", "server": "/server", "account": "/account", "help": "/help", "api": "/docs",
    "api_group": "/docs/search-and-ask", "lists": "/lists", "messages": "/lists/messages", "report": "/lists/report",
    "mail_sources": "/lists/sources", "mail_imports": "/lists/imports", "login": "/login", "unknown": "/nowhere",
    "sources": "/sources", "tenants": "/tenants", "terms": "/privacy/terms", "workbench": "/workbench",
    "workbench_form": "/workbench/event_types.register",
}  # fmt: skip
# Made alike, by one handler: the list and one form stand for them.
BENCH = {f"/workbench/{one.name}" for group in WORKBENCH.values() for one in group}
# Answers are made, not looked up: they are measured too, and told apart.
ANSWERS = {"answer": "/?question=Who+will+finish+the+quarterly+pipeline%3F"}
# Words that stand in every third passage: the search ranks all of those, and tells nobody much.
COMMON = {"search_common_words": "/search?query=hosting+contract"}


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    if kept := os.environ.get("KEEP"):
        results = asyncio.run(measure(Path(kept).resolve()))
    else:
        with tempfile.TemporaryDirectory(prefix="mnemon-bench-", ignore_cleanup_errors=True) as folder:
            Path(folder).chmod(0o755)
            results = asyncio.run(measure(Path(folder)))
    print(json.dumps({"bench": "web", "results": results}))


async def measure(home: Path) -> dict[str, float]:
    filled = home / "filled"
    # Journeys of one administrator; nobody but the bench asks the server for anything.
    async with serving(Settings(home=home, port=0, extraction_engine="rules")) as (mnemon, client):
        tenant = (await tenant_by_slug(mnemon.database, DEFAULT_SLUG)).tenant_id
        if not filled.exists():
            await fill(mnemon, tenant, VOLUME)
            async with working_inside(mnemon):
                while not await _is_read(client) or await is_reading(mnemon.database, tenant):  # noqa: ASYNC110
                    await asyncio.sleep(0.2)
            filled.touch()
        # A database that was kept may have been moved to newer tables, of which the planner knows nothing yet.
        async with mnemon.database.owner() as owner:
            await owner.execute("ANALYZE")
        pages = PAGES | await single_things(client)
        tell_unmeasured(pages)
        times = {name: await timed(client, address) for name, address in (pages | ANSWERS | COMMON).items()}
    return results_of(times)


async def _is_read(client: httpx.AsyncClient) -> bool:
    imports = (await client.get("/v1/mail/imports")).json()["items"]
    return all(one["status"] in ("succeeded", "failed") for one in imports)


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[tuple[Mnemon, httpx.AsyncClient]]:
    with listening_socket(settings) as listener:
        chosen = settings.model_copy(update={"port": listener.getsockname()[1]})
        async with open_mnemon(chosen) as mnemon:
            server = site_server(mnemon)
            task = asyncio.create_task(server.serve(sockets=[listener]))
            async with httpx.AsyncClient(base_url=mnemon.url, timeout=600) as client:
                await client.post("/login", data={"link": await link(mnemon)}, headers={"Origin": mnemon.url})
                yield mnemon, client
            server.stop()
            await task


async def link(mnemon: Mnemon) -> str:
    tenant = (await tenant_by_slug(mnemon.database, DEFAULT_SLUG)).tenant_id
    async with mnemon.log.transaction(tenant) as transaction:
        statement = "SELECT user_id FROM mnemon.users WHERE tenant_id = %s AND role = 'admin' LIMIT 1"
        row = await (await transaction.connection.execute(statement, (tenant,))).fetchone()
        assert row is not None
        return await add_login_link(transaction, SYSTEM, row["user_id"])


async def single_things(client: httpx.AsyncClient) -> dict[str, str]:
    """The first of each list."""

    async def listed(path: str, items: str) -> list[dict[str, str]]:
        found: list[dict[str, str]] = (await client.get(path)).json()[items]
        return found

    event = (await listed("/v1/semantic-events?limit=1", "events"))[0]
    document = (await listed("/v1/documents?limit=1", "items"))[0]["doc_id"]
    [told] = await listed("/v1/documents?limit=1&search=Minutes+15", "items")
    thread = (await listed("/v1/threads?limit=1", "items"))[0]["thread_key"]
    memory = (await listed("/v1/memory/objects?limit=1", "objects"))[0]["emo_id"]
    return {
        "event": f"/events/{event['event_id']}", "document": f"/documents/{document}",
        "document_with_events": f"/documents/{told['doc_id']}",
        "document_changes": f"/documents/{told['doc_id']}/changes",
        "log_event": f"/log/{(await listed('/v1/events?direction=backward&limit=1', 'events'))[0]['id']}",
        "job": f"/work/{(await listed('/v1/jobs?limit=1', 'items'))[0]['job_id']}",
        "thread": f"/lists/threads/{thread}", "thread_report": f"/lists/report?kind=thread&thread={thread}",
        "message": f"/lists/messages/{(await listed('/v1/messages?limit=1', 'items'))[0]['message_key']}",
        "archive": f"/lists/archives/{(await listed('/v1/mail/archives?limit=1', 'items'))[0]['archive_id']}",
        "memory_object": f"/memory/{memory}", "memory_diff": f"/memory/{memory}/diff?before=1&after=1",
        "memory_graph_around": f"/memory/graph?emo_id={memory}", "branch": "/memory/branches/main",
    }  # fmt: skip


def tell_unmeasured(pages: dict[str, str]) -> None:
    """So that a page added later is not forgotten here."""
    found = [route for part in PARTS for route in part.routes if isinstance(route, APIRoute)]
    routes = {route.path for route in found if "GET" in (route.methods or ())}
    asked = [address.partition("?")[0] for address in pages.values()]
    left = sorted(
        path
        for path in routes - BENCH
        if not any(re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), one) for one in asked)
    )
    print("Not measured (files, streams and answers for scripts):", ", ".join(left))


async def timed(client: httpx.AsyncClient, address: str) -> list[float]:
    """Until the last byte has come; the first two requests fill the caches and do not count."""
    times = []
    for number in range(TIMES + 2):
        began = time.perf_counter()
        answer = await client.get(address, headers={"Accept": "text/html"})
        assert answer.headers["content-type"].startswith("text/html"), address
        assert answer.status_code in (200, 404), (address, answer.status_code)
        if number > 1:
            times.append((time.perf_counter() - began) * 1000)
    return times


def results_of(times: dict[str, list[float]]) -> dict[str, float]:
    middles = {name: statistics.median(taken) for name, taken in times.items()}
    for name, taken in sorted(times.items(), key=lambda one: -middles[one[0]]):
        print(f"{name:24} p50 {middles[name]:8.1f} ms  p95 {p95(taken):8.1f} ms")
    pages = [name for name in times if name not in ANSWERS | COMMON]
    worst = {
        "page_ms_worst": max(middles[name] for name in pages),
        "page_p95_ms_worst": max(p95(times[name]) for name in pages),
        "pages_over_100_ms": float(sum(middles[name] > 100 for name in pages)),
    }
    results = worst | {f"page_ms_{name}": middle for name, middle in middles.items()}
    return {name: round(value, 1) for name, value in results.items()}


def p95(times: list[float]) -> float:
    return sorted(times)[max(0, round(len(times) * 0.95) - 1)]


if __name__ == "__main__":
    main()
