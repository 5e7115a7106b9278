"""Which embedder and which language model the settings ask for."""

import importlib.util
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mnemon.errors import BadSettings
from mnemon.models.calls import Recorder
from mnemon.models.embedder import Embedder, NoEmbedder
from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.language import LanguageModel, LanguageModelState, NoLanguageModel
from mnemon.models.redact import without_login
from mnemon.models.weights import find_weights
from mnemon.settings import Settings

if TYPE_CHECKING:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.models.openai import OpenAIChatModel

CLIENTS = ("openai", "pydantic_ai")
OWN_SERVERS = {"ollama": "http://localhost:11434/v1", "vllm": "http://localhost:8000/v1"}
SERVICES = ("openai", "anthropic", *OWN_SERVERS)


def open_embedder(settings: Settings) -> Embedder:
    """Cheap: weights are loaded, and servers called, when the first text comes."""
    kind = settings.embedder
    if kind == "none":
        return NoEmbedder("Embedding is switched off by MNEMON_EMBEDDER=none.", remedy="unset MNEMON_EMBEDDER")
    if kind == "endpoint" or (kind == "auto" and settings.openai_embed_model):
        return _endpoint_embedder(settings)
    return _local_embedder(settings)


def open_embedder_of(settings: Settings, model_id: str) -> Embedder | None:
    """The embedder whose vectors have this model id, if the settings allow it: for searches while a model changes."""
    for kind in ("local", "endpoint"):
        if kind == "endpoint" and settings.openai_embed_model is None:
            continue
        embedder = open_embedder(settings.model_copy(update={"embedder": kind}))
        if embedder.model_id == model_id:
            return embedder
    return None


def _local_embedder(settings: Settings) -> Embedder:
    from mnemon.models.local import LocalEmbedder

    if settings.embedder == "auto":
        try:
            find_weights(settings.embedder_folder)
        except EmbedderUnavailable as failure:
            return NoEmbedder(failure.message)
    return LocalEmbedder(settings.home, settings.embedder_folder, settings.embedder_threads)


def _endpoint_embedder(settings: Settings) -> Embedder:
    if settings.openai_embed_model is None:
        raise BadSettings("MNEMON_EMBEDDER=endpoint needs the model's name in MNEMON_OPENAI_EMBED_MODEL.")
    refuse_without_clients("MNEMON_OPENAI_EMBED_MODEL")
    from mnemon.models.endpoint import Endpoint, EndpointEmbedder

    address, key = settings.openai_embed_base_url, settings.openai_embed_api_key
    if address is None:
        # A key goes only to the address it was set for.
        address, key = settings.openai_base_url, key or settings.openai_api_key
    if key is None and address is None:
        return NoEmbedder(
            f"The embedding model {settings.openai_embed_model} at OpenAI needs a key.", "set OPENAI_API_KEY"
        )
    return EndpointEmbedder(
        Endpoint(
            model=settings.openai_embed_model,
            base_url=address,
            key=key.get_secret_value() if key else None,
            dimension=settings.openai_embed_dims,
            timeout=settings.openai_timeout,
            retries=settings.openai_max_retries,
            batch_size=settings.openai_batch_size,
        )
    )


def refuse_without_clients(setting: str) -> None:
    """Clients of language models are an extra: the default never uses them, and they are large."""
    missing = [name for name in CLIENTS if importlib.util.find_spec(name) is None]
    if missing:
        raise BadSettings(f"{setting} needs {' and '.join(missing)}: pip install 'mnemon[llm]'.")


def language_model_state(settings: Settings) -> LanguageModelState:
    asked = _asked_for(settings)
    if isinstance(asked, NoLanguageModel):
        return LanguageModelState(False, asked.name, None, asked.reason)
    return LanguageModelState(True, asked.model, without_login(asked.address) if asked.address else asked.service)


def open_language_model(settings: Settings, recorder: Recorder) -> LanguageModel:
    """The model that the setting names. A key alone names none: text leaves the machine only when asked to."""
    asked = _asked_for(settings)
    if isinstance(asked, NoLanguageModel):
        return asked
    refuse_without_clients("MNEMON_LANGUAGE_MODEL")
    from mnemon.models.configured import ConfiguredModel
    from mnemon.models.pydantic_ai_speaker import PydanticAISpeaker

    speaker = PydanticAISpeaker(
        _client(asked), asked.key, timeout=settings.openai_timeout, max_tokens=settings.language_model_max_tokens
    )
    return ConfiguredModel(
        speaker,
        recorder,
        requests_per_minute=settings.language_model_requests_per_minute,
        timeout=settings.openai_timeout,
        retries=settings.openai_max_retries,
    )


@dataclass(frozen=True)
class _Asked:
    """A model and where it is served. The key never shows in a repr."""

    service: str
    model: str
    address: str | None
    key: str | None = field(repr=False)


def _asked_for(settings: Settings) -> _Asked | NoLanguageModel:
    if settings.language_model is None:
        return NoLanguageModel()
    service, name = service_and_name(settings.language_model)
    address, secret = settings.openai_base_url, settings.openai_api_key
    if service == "anthropic":
        address, secret = None, settings.anthropic_api_key
    elif address is None and service in OWN_SERVERS:
        # The key is for OpenAI then, and none of this server's business.
        address, secret = OWN_SERVERS[service], None
    if secret is None and address is None:
        wanted = "ANTHROPIC_API_KEY" if service == "anthropic" else "OPENAI_API_KEY"
        return NoLanguageModel(f"The language model {settings.language_model} needs a key: set {wanted}.")
    return _Asked(service, name, address, secret.get_secret_value() if secret else None)


def service_and_name(setting: str) -> tuple[str, str]:
    """`anthropic:NAME` names its service; any other name, colons included, is one at the OpenAI-compatible endpoint."""
    service, colon, name = setting.partition(":")
    return (service, name) if colon and service in SERVICES else ("openai", setting)


def _client(asked: _Asked) -> "OpenAIChatModel | AnthropicModel":
    """Client libraries are imported here, since they take a second that a user without a model need not wait."""
    if asked.service == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(asked.model, provider=AnthropicProvider(api_key=asked.key))
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if asked.address is None:
        return OpenAIChatModel(asked.model, provider=OpenAIProvider(api_key=asked.key))
    # llama.cpp, vLLM and Ollama all constrain decoding to a schema, whatever the model is called.
    profile = OpenAIModelProfile(supports_json_schema_output=True)
    provider = OpenAICompatibleProvider(asked.service, base_url=asked.address, api_key=asked.key, profile=profile)
    return OpenAIChatModel(asked.model, provider=provider)
