"""The one error family: a stable code, a sentence with the remedy, an HTTP status, and whether a retry helps."""

from collections.abc import Iterator
from typing import Any, ClassVar


class MnemonError(Exception):
    """Something a caller should be told. Subclasses fix the code; the message names the value and the remedy."""

    code: ClassVar[str] = "INTERNAL"
    status: ClassVar[int] = 500
    retry: ClassVar[bool] = False

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def as_json(self) -> dict[str, Any]:
        """The one error shape of REST, MCP and CLI."""
        return {"error": self.message, "error_code": self.code, "details": self.details}


class InvalidRequest(MnemonError):
    """The request does not have the documented form."""

    code = "INVALID_REQUEST"
    status = 422


class NotFound(MnemonError):
    """Nothing by that name exists, or not for this caller."""

    code = "NOT_FOUND"
    status = 404


class MethodNotAllowed(MnemonError):
    """The route exists, but not with this HTTP method."""

    code = "METHOD_NOT_ALLOWED"
    status = 405


class Conflict(MnemonError):
    """The change contradicts what is already there."""

    code = "CONFLICT"
    status = 409


class RequestTooLarge(MnemonError):
    """The request body is over the size limit."""

    code = "REQUEST_TOO_LARGE"
    status = 413


class NotAuthenticated(MnemonError):
    """No valid credential came with the request."""

    code = "NOT_AUTHENTICATED"
    status = 401


class NotAllowed(MnemonError):
    """The credential is valid, but its role or scope does not cover the action."""

    code = "NOT_ALLOWED"
    status = 403


class TooManyRequests(MnemonError):
    """The caller has to wait; details say how long."""

    code = "TOO_MANY_REQUESTS"
    status = 429
    retry = True


class BadSettings(MnemonError):
    """A setting has a value that Mnemon cannot run with."""

    code = "BAD_SETTINGS"


class DatabaseUnavailable(MnemonError):
    """The database does not answer."""

    code = "DATABASE_UNAVAILABLE"
    status = 503
    retry = True


class DiskFull(MnemonError):
    """A disk of the server has no room left, or may not be written to."""

    code = "DISK_FULL"
    status = 507
    retry = True


class TenantMoving(MnemonError):
    """The tenant is on its way to another database: what changes it waits until it has arrived."""

    code = "TENANT_MOVING"
    status = 503
    retry = True


class TenantMoved(MnemonError):
    """The tenant is in another database now; `url` in the details says where its requests are answered."""

    code = "TENANT_MOVED"
    status = 421


class DatabaseUnsuitable(MnemonError):
    """The database answers, but lacks a version, an extension or a privilege that Mnemon needs."""

    code = "DATABASE_UNSUITABLE"


class MigrationFailed(MnemonError):
    """The schema cannot be brought to the version this program needs."""

    code = "MIGRATION_FAILED"


class HomeOutdated(MnemonError):
    """The database was made by a development version that this one cannot upgrade: start with an empty home."""

    code = "HOME_OUTDATED"


class BackupFailed(MnemonError):
    """A backup or restore did not complete; the database is as it was."""

    code = "BACKUP_FAILED"


def error_types(family: type[MnemonError] = MnemonError) -> Iterator[type[MnemonError]]:
    """Every error that Mnemon can answer with, for the documentation and its tests."""
    yield family
    for member in family.__subclasses__():
        yield from error_types(member)
