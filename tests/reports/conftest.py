"""A running Mnemon with mail, as the tests of mail have it."""

from tests.mail.conftest import (
    admin,
    caller_address,
    client,
    eventually,
    imported,
    mail_worker,
    mnemon,
    quick_retries,
    settings,
    user,
)  # fmt: skip

__all__ = [
    "admin", "caller_address", "client", "eventually", "imported", "mail_worker", "mnemon", "quick_retries",
    "settings", "user",
]  # fmt: skip
