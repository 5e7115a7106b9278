"""The contract suites use the log, the sealed log and the REST client of the suites of those rooms."""

from tests.api.conftest import admin, caller_address, client, mnemon, settings, user
from tests.log.conftest import fresh_log, log, privacy

__all__ = ["admin", "caller_address", "client", "fresh_log", "log", "mnemon", "privacy", "settings", "user"]
