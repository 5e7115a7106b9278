"""The attacks use what the suites of documents use: a running Mnemon with people in it."""

from tests.documents.conftest import (
    admin,
    caller_address,
    client,
    eventually,
    ingested,
    mnemon,
    run_reaches,
    settings,
    upload,
    user,
    work,
)

__all__ = [
    "admin", "caller_address", "client", "eventually", "ingested", "mnemon", "run_reaches", "settings", "upload",
    "user", "work",
]  # fmt: skip
