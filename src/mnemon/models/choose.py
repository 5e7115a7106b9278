"""Which embedder and which language model the settings ask for."""

from mnemon.errors import BadSettings
from mnemon.models.embedder import Embedder, NoEmbedder
from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.weights import find_weights
from mnemon.settings import Settings


def open_embedder(settings: Settings) -> Embedder:
    """Cheap: weights are loaded, and servers called, when the first text comes."""
    kind = settings.embedder
    if kind == "none":
        return NoEmbedder("Embedding is switched off by MNEMON_EMBEDDER=none.", remedy="unset MNEMON_EMBEDDER")
    if kind == "endpoint" or (kind == "auto" and settings.openai_embed_model):
        return _endpoint_embedder(settings)
    return _local_embedder(settings)


def _local_embedder(settings: Settings) -> Embedder:
    from mnemon.models.local import LocalEmbedder

    if settings.embedder == "auto":
        try:
            find_weights(settings.embedder_folder)
        except EmbedderUnavailable as failure:
            return NoEmbedder(failure.message)
    return LocalEmbedder(settings.home, settings.embedder_folder, settings.embedder_threads)


def _endpoint_embedder(settings: Settings) -> Embedder:
    from mnemon.models.endpoint import Endpoint, EndpointEmbedder

    if settings.openai_embed_model is None:
        raise BadSettings("MNEMON_EMBEDDER=endpoint needs the model's name in MNEMON_OPENAI_EMBED_MODEL.")
    key = settings.openai_embed_api_key or settings.openai_api_key
    address = settings.openai_embed_base_url or settings.openai_base_url
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
