"""The settings decide which model is used, and naming none is a working choice."""

import importlib.util
from pathlib import Path

import pytest
from pydantic import BaseModel

from mnemon.errors import BadSettings, MnemonError
from mnemon.ids import new_uuid
from mnemon.models.choose import language_model_state, open_embedder, open_embedder_of, open_language_model
from mnemon.models.embedder import NoEmbedder, embedding_health
from mnemon.models.endpoint import EndpointEmbedder
from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.language import Prompt
from mnemon.models.local import LocalEmbedder
from mnemon.models.weights import REMEDY
from mnemon.settings import Settings, load_settings
from tests.models.scripted import KeptCalls


@pytest.fixture(autouse=True)
def no_service_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in list(os.environ):
        if name.startswith(("OPENAI_", "ANTHROPIC_")):
            monkeypatch.delenv(name)


def test_the_local_model_is_the_default(home: Path) -> None:
    assert isinstance(open_embedder(load_settings(home=home)), LocalEmbedder)


async def test_without_weights_there_is_an_honest_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    embedder = open_embedder(load_settings(home=home))
    assert isinstance(embedder, NoEmbedder)
    with pytest.raises(EmbedderUnavailable, match="No embedding model is installed"):
        await embedder.embed(["a"])
    health = await embedding_health(embedder)
    assert (health.available, health.model_id, health.dimension, health.remedy) == (False, "none", None, REMEDY)


async def test_embedding_can_be_switched_off(home: Path) -> None:
    health = await embedding_health(open_embedder(load_settings(home=home, embedder="none")))
    assert (health.available, health.remedy) == (False, "unset MNEMON_EMBEDDER")


def test_the_specifications_names_choose_the_endpoint(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "OPENAI_API_KEY": "sk-x",
        "OPENAI_EMBED_MODEL": "text-embedding-3-large",
        "OPENAI_EMBED_DIMS": "3072",
        "OPENAI_TIMEOUT": "7",
        "OPENAI_MAX_RETRIES": "2",
        "OPENAI_BATCH_SIZE": "50",
    }.items():
        monkeypatch.setenv(name, value)
    embedder = open_embedder(load_settings(home=home))
    assert isinstance(embedder, EndpointEmbedder)
    asked = embedder.endpoint
    assert (asked.model, asked.dimension, asked.timeout, asked.retries, asked.batch_size) == (
        "text-embedding-3-large", 3072, 7, 2, 50,
    )  # fmt: skip


def test_a_key_alone_sends_nothing_anywhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    assert isinstance(open_embedder(load_settings(home=home)), LocalEmbedder)


def test_a_key_goes_only_to_the_address_it_was_set_for(home: Path) -> None:
    shared = {"home": home, "openai_embed_model": "m", "openai_api_key": "sk-for-openai"}
    elsewhere = open_embedder(load_settings(**shared, openai_embed_base_url="http://127.0.0.1:9/v1"))
    assert isinstance(elsewhere, EndpointEmbedder)
    assert elsewhere.endpoint.key is None
    with_own = {**shared, "openai_embed_base_url": "http://127.0.0.1:9/v1", "openai_embed_api_key": "sk-own"}
    own = open_embedder(load_settings(**with_own))
    assert isinstance(own, EndpointEmbedder)
    assert own.endpoint.key == "sk-own"
    same = open_embedder(load_settings(**shared, openai_base_url="http://127.0.0.1:9/v1"))
    assert isinstance(same, EndpointEmbedder)
    assert same.endpoint.key == "sk-for-openai"


async def test_a_model_at_openai_without_a_key_says_so(home: Path) -> None:
    embedder = open_embedder(load_settings(home=home, openai_embed_model="text-embedding-3-small"))
    assert (await embedding_health(embedder)).remedy == "set OPENAI_API_KEY"


def test_an_endpoint_without_a_model_is_refused(home: Path) -> None:
    with pytest.raises(BadSettings, match="MNEMON_OPENAI_EMBED_MODEL"):
        open_embedder(load_settings(home=home, embedder="endpoint"))


def test_both_models_can_be_had_while_one_replaces_the_other(home: Path) -> None:
    settings = load_settings(home=home, openai_embed_model="new", openai_base_url="http://127.0.0.1:9/v1")
    assert open_embedder(settings).model_id == "new"
    assert isinstance(open_embedder_of(settings, LocalEmbedder.model_id), LocalEmbedder)
    assert isinstance(open_embedder_of(settings, "new"), EndpointEmbedder)
    assert open_embedder_of(settings, "forgotten") is None
    assert open_embedder_of(load_settings(home=home), "new") is None


class Title(BaseModel):
    title: str


async def test_a_password_in_an_address_is_never_shown(home: Path) -> None:
    address = "http://me:hidden-word@127.0.0.1:9/v1"
    settings = load_settings(
        home=home, openai_base_url=address, openai_embed_model="m", language_model="m", openai_max_retries=0
    )
    health = await embedding_health(open_embedder(settings))
    assert not health.available
    shown = f"{health} {language_model_state(settings)}"
    assert "hidden-word" not in shown
    assert "http://127.0.0.1:9/v1" in shown
    model = open_language_model(settings, KeptCalls())
    with pytest.raises(MnemonError) as caught:
        await model.ask(Prompt("p", 1, "", "hello"), Title, new_uuid())
    assert "hidden-word" not in str(caught.value)


def test_clients_that_are_not_installed_are_named_with_their_extra(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "openai" else found(name))
    model = Settings(home=home, language_model="llama3", openai_base_url="http://localhost:1/v1")
    with pytest.raises(BadSettings, match=r"MNEMON_LANGUAGE_MODEL needs openai: pip install 'mnemon\[llm\]'"):
        open_language_model(model, KeptCalls())
    endpoint = Settings(home=home, openai_embed_model="nomic", openai_base_url="http://localhost:1/v1")
    with pytest.raises(BadSettings, match="MNEMON_OPENAI_EMBED_MODEL needs openai"):
        open_embedder(endpoint)
    assert open_embedder(Settings(home=home)).model_id.startswith("all-MiniLM")
