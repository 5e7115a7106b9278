"""What a server refused, as the error that it is: by address a failure is the same as at home."""

from typing import Any

import httpx2

from mnemon.errors import MnemonError, error_types


class ServerUnreachable(MnemonError):
    """The server does not answer at its address."""

    code = "SERVER_UNREACHABLE"
    status = 503
    retry = True


class ServerRefused(MnemonError):
    """The server refused with a code that this version does not know."""

    code = "SERVER_REFUSED"


def failure_of(answer: httpx2.Response) -> MnemonError:
    """The one error shape, read back; whatever else stands before the server has no such shape."""
    try:
        told: dict[str, Any] = answer.json()
        message, code, details = told["error"], told["error_code"], told.get("details") or {}
    except (ValueError, KeyError, TypeError):
        where = f"{answer.request.method} {answer.request.url}"
        return ServerRefused(f"{where} was answered with {answer.status_code}, and not by Mnemon.")
    known = {one.code: one for one in error_types()}
    found = known.get(code)
    if found is None:
        return ServerRefused(f"{message} ({code})", **details)
    failure = found.__new__(found)
    # Some errors build their message of their own values; the server's is the one to show.
    MnemonError.__init__(failure, message, **details)
    return failure
