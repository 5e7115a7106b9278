"""`mnemon status`: whether each part works, and what there is."""

from collections.abc import Awaitable, Callable
from typing import Any

import typer

from mnemon import __version__
from mnemon.cli.binding.bind import acting
from mnemon.cli.context import on_its_own, run_async, server_calls
from mnemon.cli.output import Json, TenantOption, counted, say, show, table
from mnemon.documents.operations import list_documents, list_runs
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.memory.operations.objects import find
from mnemon.operations import Operation, read_input
from mnemon.readiness import PartState
from mnemon.semantics.operations import search


@on_its_own("Over REST it is /ready, for agents the tool `status`; here it also counts what there is.")
def status(tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Say whether Mnemon works, where it is, and what it holds.

    Example: mnemon status
    """
    found, parts = run_async(_look(tenant))
    works = all(one.ok for one in parts.values() if one.needed)
    told = {name: {"ok": one.ok, "detail": one.detail} for name, one in parts.items()}
    show({**found, "ok": works, "parts": told}, as_json, lambda: _print(found, parts))
    if not works:
        raise typer.Exit(1)


async def _look(slug: str) -> tuple[dict[str, Any], dict[str, PartState]]:
    async with server_calls(slug) as server:
        if server is not None:
            told = (await server.send("GET", "/ready", again=True, taken=(503,))).json()
            parts = {name: PartState(**part) for name, part in told["parts"].items()}
            return await _counted(server.call, server.url), parts
    async with acting(slug) as (mnemon, caller):
        found = await _counted(lambda operation, asked: operation(mnemon, caller, asked), str(mnemon.settings.home))
        return found, await mnemon.readiness()


async def _counted(call: Callable[[Operation[Any, Any], Any], Awaitable[Any]], where: str) -> dict[str, Any]:
    one = {"limit": 1}
    return {
        "version": __version__,
        "home": where,
        "waiting": (await call(list_runs, read_input(list_runs, one | {"status": "queued"}))).total,
        "documents": (await call(list_documents, read_input(list_documents, one))).total,
        "semantic_events": (await call(search, read_input(search, one))).total,
        "memories": (await call(find, read_input(find, one))).total,
    }


def _print(found: dict[str, Any], parts: dict[str, PartState]) -> None:
    say(f"Mnemon {found['version']} in {found['home']}", "bold")
    nouns = {"documents": "document", "semantic_events": "semantic event", "memories": "memory object"}
    say(", ".join(counted(found[name], noun) for name, noun in nouns.items()))
    if found["waiting"]:
        say(f"{counted(found['waiting'], 'file')} taken in and not read yet: `mnemon work` reads them.")
    rows = [(name, "works" if one.ok else "down" if one.needed else "idle", one.detail) for name, one in parts.items()]
    table(["Part", "State", "Detail"], rows, "")
