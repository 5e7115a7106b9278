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

    def ensure_running(self) -> None:
        """Not ours to start."""

    def release(self) -> None:
        """Not ours to stop."""


def external_server(owner_url: str, app_url: str | None) -> ExternalServer:
    """Without a login of its own, the application role is assumed at connect time; RESET ROLE cannot leave it."""
    owner = _checked(owner_url, "MNEMON_DATABASE_URL")
    if app_url:
        return ExternalServer(owner, _checked(app_url, "MNEMON_DATABASE_APP_URL"))
    options = f"{conninfo_to_dict(owner).get('options') or ''} -c role={APP_ROLE}".strip()
    return ExternalServer(owner, make_conninfo(owner, options=options))


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
