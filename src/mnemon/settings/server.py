"""Settings of the server, of who may come in and of what it says."""

import ipaddress
import re
from typing import Any, Literal

from pydantic import BaseModel, SecretStr, field_validator, model_validator

from mnemon.settings.part import TextList, setting

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
ORIGIN = re.compile(r"https?://[^\s/?#]+")
WEB_ADDRESS = re.compile(r"https?://[^\s?#]+")


class ServerSettings(BaseModel):
    """The server, who may come in, and what it writes down."""

    host: str = setting("127.0.0.1", "Address that `mnemon serve` listens on.")
    port: int = setting(8787, "Port that `mnemon serve` listens on.", ge=0, le=65_535)
    public_url: str | None = setting(
        None, "Address that people reach the server at, used in links. Unset: the address it listens on."
    )
    server: str | None = setting(
        None, "Address of a server that commands and programs talk to. Unset: the home of this machine."
    )
    server_token: SecretStr | None = setting(
        None, "Access token for that server. Unset: the one that `mnemon login` keeps."
    )
    trusted_proxies: TextList = setting(
        (), "Addresses of reverse proxies whose X-Forwarded-For header is believed, separated by commas. Empty: none."
    )
    trace_endpoint: str | None = setting(
        None,
        "Collector that traces are sent to, from requests to their jobs: the address of OTLP over HTTP, such as "
        "http://collector:4318. Unset: none.",
        pattern=r"^https?://[^\s?#]+$",
    )
    cors_origins: TextList = setting((), "Origins whose web pages may call the API, separated by commas. Empty: none.")
    request_max_bytes: int = setting(
        1_048_576,
        "Largest request body; file uploads, texts of artifacts and calls of MCP tools may be larger.",
        ge=1_024,
        le=1 << 30,
    )
    connections: int = setting(
        1_000, "Most connections at once; fewer where the process may not open so many files.", ge=16, le=60_000
    )
    connections_per_address: int = setting(
        200, "Most connections from one address at once; trusted proxies are exempt.", ge=1, le=60_000
    )
    header_seconds: int = setting(
        10, "How long the head of a request may take to arrive, from its first byte.", ge=1, le=600
    )
    quota_requests: int = setting(
        30_000, "Requests that one credential may send in a minute. 0: no limit.", ge=0, le=100_000_000
    )
    quota_address_requests: int = setting(
        60_000, "Requests that may come from one address in a minute. 0: no limit.", ge=0, le=100_000_000
    )
    quota_uploads: int = setting(
        3_000, "Uploads that one credential may send in a minute. 0: no limit.", ge=0, le=100_000_000
    )
    quota_searches: int = setting(
        6_000, "Searches and questions that one credential may send in a minute. 0: no limit.", ge=0, le=100_000_000
    )
    quota_live: int = setting(
        50, "Live subscriptions that one credential may have open at once. 0: no limit.", ge=0, le=100_000
    )
    quota_at_once: int = setting(
        16,
        "Searches, questions and calls of MCP tools that one credential may have under way at once. 0: no limit.",
        ge=0,
        le=100_000,
    )
    least_free_disk_mb: int = setting(
        200, "Room in the home folder below which `/ready` says that the disk is full.", ge=0, le=1_000_000
    )
    shutdown_seconds: int = setting(10, "How long requests in progress may finish when the server stops.", ge=0, le=600)
    mcp_tools: Literal["core", "full"] = setting(
        "core",
        "Which tools agents get over MCP: the few that most need, or all. Fewer tools are chosen better.",
    )
    auth_enabled: bool = setting(
        True,
        "`false` lets everyone in as the administrator, and is accepted only on a loopback address.",
        "AUTH_ENABLED",
    )
    jwt_secret: SecretStr | None = setting(
        None,
        "Key that signs sessions, at least 32 characters. Unset: one is made and kept in the home folder.",
        "JWT_SECRET",
    )
    jwt_expiry_hours: int = setting(24, "Life of a session.", "JWT_EXPIRY_HOURS", ge=1, le=8_760)
    login_failures: int = setting(
        5,
        "Wrong passwords for one account, or from one address times ten, before each further try waits.",
        ge=1,
        le=1_000,
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = setting("INFO", "Least severe log line.", "LOG_LEVEL")
    log_format: Literal["auto", "json", "console"] = setting(
        "auto", "`auto` is readable text on a terminal and JSON elsewhere."
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

    @model_validator(mode="after")
    def _check_together(self) -> "ServerSettings":
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
