"""`mnemon verify`: check everything, of one tenant or of all, and say what was changed."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from mnemon.cli.context import on_its_own, opened, run_async
from mnemon.cli.output import Json, complaints, counted, say, show, table
from mnemon.identity.tenants import all_tenants, tenant_by_slug
from mnemon.log.events import OPERATOR

if TYPE_CHECKING:
    from mnemon.verification.run import VerificationReport
    from mnemon.verification.unknown_tenants import UnknownTenants

# What is counted of each part.
OF = {
    "guards": "tables, columns, rules, functions and rights of the database",
    "log": "events, from what was signed",
    "witnesses": "checkpoints that are kept elsewhere",
    "log_rows": "rows beside the log: heads, periods, types, keys, redactions, erasures",
    "lenses": "rows of lenses, made anew from the log",
    "snapshots": "snapshots of entities",
    "people": "tenants, users, tokens, login links and approvals",
    "places": "sources, folders, webhooks and other addresses",
    "content": "files, texts and their passages",
    "keys": "keys of the home",
}


@on_its_own("It looks at keys, files and all tenants of this machine.")
def verify(
    tenant: Annotated[
        str | None, typer.Option(help="Only this tenant; all of them unless given.", metavar="SLUG")
    ] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Only what is new and a seventh part of the old, as each night.")
    ] = False,
    wants_json: Json = False,
) -> None:
    """Check everything that could have been changed behind Mnemon's back.

    The log from what was signed, every lens by replay, files, texts, people, tokens, schedules, and the guards of the
    database. What is found is recorded as an event of the tenant's log. Exit status 1 if anything was changed.

    Example: mnemon verify --tenant main
    """
    # Loads every capability, which `--help` does without.
    from mnemon.verification.run import verify_everything
    from mnemon.verification.unknown_tenants import unknown_tenants

    async def work() -> "tuple[dict[str, VerificationReport], UnknownTenants]":
        async with opened() as mnemon:
            chosen = [await tenant_by_slug(mnemon.database, tenant)] if tenant else await all_tenants(mnemon.database)
            done = {}
            for one in chosen:
                done[one.slug] = await verify_everything(
                    mnemon, one.tenant_id, complete=not new, actor=OPERATOR,
                    progress=partial(_say_part, one.slug),
                )  # fmt: skip
            return done, await unknown_tenants(mnemon)

    done, unknown = run_async(work())
    lost = [] if unknown.is_shared else unknown.tenants
    intact = not lost and all(report.intact for report in done.values())
    result = {
        "intact": intact,
        "tenants": {slug: report.as_json() for slug, report in done.items()},
        "lost_tenants": [str(one) for one in lost],
        "tenants_elsewhere": [str(one) for one in unknown.tenants] if unknown.is_shared else [],
    }
    show(result, wants_json, lambda: describe(done, lost, unknown.tenants if unknown.is_shared else []))
    if not intact:
        raise typer.Exit(1)


def _say_part(slug: str, part: str) -> None:
    if complaints.is_terminal:
        complaints.print(f"{slug}: {part} …", style="dim")


def describe(done: "dict[str, VerificationReport]", lost: Sequence[UUID], elsewhere: Sequence[UUID]) -> None:
    for slug, report in done.items():
        if report.intact:
            say(f"{slug} is intact.", "green")
        else:
            say(f"{slug} was changed: {counted(len(report.findings), 'finding')}.", "bold red")
            rows = [(one.part, one.where, one.message) for one in report.findings]
            table(["Part", "Where", "What"], rows, "")
        table(["Part", "Looked at", "Of"], [(one.part, f"{one.checked:,}", OF[one.part]) for one in report.checks], "")
    for tenant in lost:
        say(f"There are checkpoints of the tenant {tenant}, which is not in the database any more.", "bold red")
    for tenant in elsewhere:
        say(f"There are checkpoints of the tenant {tenant}: another database of this home should have it.", "yellow")
