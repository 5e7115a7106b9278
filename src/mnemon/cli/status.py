"""`mnemon status`: whether each part works, and what there is."""

from typing import Any

import typer

from mnemon import __version__
from mnemon.cli.context import OPERATOR, on_its_own, run_async, tenant_of
from mnemon.cli.output import Json, TenantOption, say, show, table
from mnemon.documents.operations import list_documents
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.memory.operations.objects import find
from mnemon.operations import Caller, read_input
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
    async with tenant_of(slug) as (mnemon, tenant_id):
        caller = Caller(tenant_id, OPERATOR, channel="cli")
        documents = await list_documents(mnemon, caller, read_input(list_documents, {"limit": 1}))
        events = await search(mnemon, caller, read_input(search, {"limit": 1}))
        memories = await find(mnemon, caller, read_input(find, {"limit": 1}))
        found = {
            "version": __version__,
            "home": str(mnemon.settings.home),
            "documents": documents.total,
            "semantic_events": events.total,
            "memories": memories.total,
        }
        return found, await mnemon.readiness()


def _print(found: dict[str, Any], parts: dict[str, PartState]) -> None:
    say(f"Mnemon {found['version']} in {found['home']}", "bold")
    say(
        f"{found['documents']:,} documents, {found['semantic_events']:,} semantic events, "
        f"{found['memories']:,} memories"
    )
    rows = [(name, "works" if one.ok else "down" if one.needed else "idle", one.detail) for name, one in parts.items()]
    table(["Part", "State", "Detail"], rows, "")
