"""`mnemon models`: which models are used, and whether they work."""

from typing import Any

import typer

from mnemon.cli.context import run_async, settings_for_command
from mnemon.cli.output import Json, say, show, table
from mnemon.settings import Settings

app = typer.Typer(help="Embedding and language models.", no_args_is_help=True)


@app.command()
def status(as_json: Json = False) -> None:
    """Say which models are used, and try the embedding model.

    Example: mnemon models status --json
    """
    state = run_async(_state(settings_for_command()))
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
        "embedding": health.as_json(),
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
