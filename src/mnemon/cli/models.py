"""`mnemon models`: which models are used, and whether they work."""

from typing import Any
from uuid import UUID

import typer

from mnemon.cli.context import on_its_own, opened, run_async, settings_at_home
from mnemon.cli.output import Json, say, show, table
from mnemon.settings import Settings

# System jobs belong to nobody.
SYSTEM = UUID(int=0)
VECTORS = """
SELECT t.slug AS tenant, m.relation, m.model_id, m.dimension, m.state, m.changed_at
  FROM mnemon.embedding_models m JOIN mnemon.tenants t USING (tenant_id)
 ORDER BY t.slug, m.relation, m.changed_at
"""

app = typer.Typer(help="Embedding and language models.", no_args_is_help=True)


@app.command()
@on_its_own("Models are chosen by the settings of this machine.")
def status(as_json: Json = False) -> None:
    """Say which models are used, and try the embedding model.

    Example: mnemon models status --json
    """
    state = run_async(_state(settings_at_home()))
    show(state, as_json, lambda: _print(state))


async def _state(settings: Settings) -> dict[str, Any]:
    from mnemon.models.choose import language_model_state, open_embedder
    from mnemon.models.embedder import embedding_health
    from mnemon.models.tokens import find_tokenizer

    embedder = open_embedder(settings)
    try:
        health = await embedding_health(embedder)
    finally:
        await embedder.close()
    return {
        "embedding": health.model_dump(),
        "language_model": language_model_state(settings).as_json(),
        "tokenizer": find_tokenizer(settings.embedder_folder).name,
    }


def _print(state: dict[str, Any]) -> None:
    embedding, language = state["embedding"], state["language_model"]
    works = "works" if embedding["available"] else "none"
    configured = "configured" if language["available"] else "none"
    rows = [
        ("embedding", works, embedding["model_id"], embedding["dimension"], embedding["source"]),
        ("language", configured, language["model"], None, language["source"]),
        ("tokenizer", "works", state["tokenizer"], None, None),
    ]
    table(["Model", "State", "Name", "Dimension", "From"], rows, "")
    for part in (embedding, language):
        if part["error"]:
            say(part["error"])


@app.command()
@on_its_own("The model is the same for all tenants.")
def reembed(as_json: Json = False) -> None:
    """Bring all vectors to the configured model now, instead of within five minutes.

    Workers do it in the background; searches go on with the old vectors until the new ones are complete.
    """
    job = run_async(_reembed())
    show(job, as_json, lambda: say(f"Job {job['job_id']} looks for vectors of other models: mnemon models vectors"))


async def _reembed() -> dict[str, Any]:
    from mnemon.work.enqueue import enqueue
    from mnemon.work.kinds import NoPayload
    from mnemon.work.model_jobs import FIND_OLD_VECTORS

    async with opened() as mnemon, mnemon.database.transaction(SYSTEM) as tx:
        return {"job_id": (await enqueue(tx, FIND_OLD_VECTORS, NoPayload(), dedupe_key="asked for")).job_id}


@app.command()
@on_its_own("It looks at all tenants.")
def vectors(as_json: Json = False) -> None:
    """List which model's vectors each tenant has: in use (active), on their way in (filling) or out (retired)."""
    found = run_async(_vectors())
    rows = [(one["tenant"], one["relation"], one["model_id"], one["state"], one["changed_at"]) for one in found]
    show(found, as_json, lambda: table(["Tenant", "Table", "Model", "State", "Since"], rows, "No vectors."))


async def _vectors() -> list[dict[str, Any]]:
    async with opened() as mnemon, mnemon.database.owner() as owner:
        return await (await owner.execute(VECTORS)).fetchall()
