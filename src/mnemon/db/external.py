"""A PostgreSQL server that someone else runs, named by MNEMON_DATABASE_URL."""

from dataclasses import dataclass

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mnemon.db.embedded import APP_ROLE
from mnemon.errors import BadSettings


@dataclass(frozen=True)
class ExternalServer:
    """The two ways into an external database: as its owner and as the application role."""

    owner_conninfo: str
    app_conninfo: str
    # Where transactions of requests go, if not to the same place: a pooler that gives a connection for each of them.
    pooler_conninfo: str | None = None

    @property
    def fails_over(self) -> bool:
        """Several hosts: while one takes over from another, none may answer for a moment."""
        return "," in str(conninfo_to_dict(self.owner_conninfo).get("host") or "")

    def ensure_running(self) -> None:
        """Not ours to start."""

    def release(self) -> None:
        """Not ours to stop."""


def external_server(owner_url: str, app_url: str | None, pooler_url: str | None = None) -> ExternalServer:
    """Without a login of its own, the application role is assumed at connect time; RESET ROLE cannot leave it."""
    owner = _to_primary(_checked(owner_url, "MNEMON_DATABASE_URL"))
    pooler = _checked(pooler_url, "MNEMON_DATABASE_POOLER_URL") if pooler_url else None
    if app_url:
        return ExternalServer(owner, _to_primary(_checked(app_url, "MNEMON_DATABASE_APP_URL")), pooler)
    return ExternalServer(owner, _as_application(owner), pooler)


def replica_conninfo(url: str) -> str:
    """A replica, as the application role."""
    checked = _checked(url, "MNEMON_DATABASE_REPLICA_URL")
    return checked if conninfo_to_dict(checked).get("user") == APP_ROLE else _as_application(checked)


def _as_application(url: str) -> str:
    options = f"{conninfo_to_dict(url).get('options') or ''} -c role={APP_ROLE}".strip()
    return make_conninfo(url, options=options)


def _to_primary(url: str) -> str:
    """Of several hosts the one that takes writes, whichever that is now."""
    told = conninfo_to_dict(url)
    if "," not in str(told.get("host") or "") or told.get("target_session_attrs"):
        return url
    return make_conninfo(url, target_session_attrs="read-write")


def _checked(url: str, variable: str) -> str:
    try:
        conninfo_to_dict(url)
    except ProgrammingError:
        # The message of libpq would repeat the URL, password included.
        raise BadSettings(
            f"{variable} is not a PostgreSQL address: give postgresql://user:password@host:port/database.",
            variable=variable,
        ) from None
    return url
