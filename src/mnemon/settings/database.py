"""Settings of where data lives."""

import os
import sys
from pathlib import Path

from pydantic import BaseModel, SecretStr

from mnemon.settings.part import Folder, setting


def default_home() -> Path:
    """Where data lives by default: per user, or /var/lib/mnemon for root, whose own home others cannot enter."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "mnemon"
    if os.geteuid() == 0:
        return Path("/var/lib/mnemon")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "mnemon"


class DatabaseSettings(BaseModel):
    """Where data lives."""

    home: Folder = setting(default_home, "Folder for the embedded database, keys and files.")
    database_url: SecretStr | None = setting(
        None,
        "PostgreSQL 15 or newer with pgvector, as its owner. Several hosts may be given, separated by commas: the one "
        "that takes writes is used. Unset: the embedded server in the home folder.",
        "DATABASE_URL",
        "DATABASE_URL",
        "EVENTS_DB_DSN",
    )
    database_app_url: SecretStr | None = setting(
        None, "The same database as the application role `mnemon_app`. Unset: the owner's URL, switched to that role."
    )
    database_pooler_url: SecretStr | None = setting(
        None,
        "PgBouncer in transaction mode before the same database, as the role `mnemon_app`: requests go through it. "
        "What needs a session (notifications, workers, migrations) goes to the database itself. Unset: no pooler.",
    )
    database_replica_url: SecretStr | None = setting(
        None,
        "A streaming replica of the same database, as its owner or as `mnemon_app`: searches go there while it is near "
        "enough, and to the database itself otherwise. Unset: none.",
    )
    database_replica_seconds: int = setting(5, "How old an answer from the replica may be, at most.", ge=1, le=3_600)
    database_pool_size: int = setting(10, "Most connections one process keeps open.", ge=1, le=200)
    database_linger_seconds: int = setting(
        30, "How long the embedded server waits for a next process after the last one left.", ge=0, le=86_400
    )
