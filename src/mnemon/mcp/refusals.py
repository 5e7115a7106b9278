"""How a failure reaches an agent: as a result with a code, which the model reads and can mend its call by."""

import json

import psycopg
from mcp_types import CallToolResult, TextContent
from pydantic import ValidationError

from mnemon.errors import DatabaseUnavailable, InvalidRequest, MnemonError, NotFound
from mnemon.problems import KIND_OF_ID, plain_problem
from mnemon.telemetry import logger

log = logger(__name__)

# Names are the caller's own words: what is wrong with a call is said in a few lines, however much is wrong.
LONGEST_NAME = 60
MOST_PROBLEMS = 10


class InvalidArguments(InvalidRequest):
    """The arguments of a tool do not have the form that its schema describes."""

    # The tools' specification names it so (000, 9.3); over REST the same is INVALID_REQUEST.
    code = "VALIDATION_ERROR"


class ConfirmationNeeded(MnemonError):
    """A deletion that nobody has confirmed; nothing was changed."""

    code = "CONFIRMATION_NEEDED"
    status = 409


def failed(failure: MnemonError) -> CallToolResult:
    """An error is a result too. What is wrong with a request has one code here, whoever found it.

    It is text alone: structured content has the tool's own schema, and many clients throw away what has not.
    """
    if failure.code == InvalidRequest.code:
        failure = InvalidArguments(failure.message, **failure.details)
    text = json.dumps(failure.as_json(), ensure_ascii=False, default=str)
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def invalid_arguments(tool: str, failure: ValidationError) -> InvalidArguments:
    """Every problem with its place, without the value: it may be long, or secret."""
    problems = [
        {
            "field": ".".join(str(part)[:LONGEST_NAME] for part in one["loc"]) or "arguments",
            "problem": plain_problem(one),
        }
        for one in failure.errors(include_url=False, include_input=False)[:MOST_PROBLEMS]
    ]
    first = problems[0]
    shown = "; results of a search have them" if KIND_OF_ID in first["problem"] else ""
    return InvalidArguments(f"{tool}: {first['field']}: {first['problem']}{shown}", problems=problems)


def unknown_arguments(tool: str, given: set[str], known: list[str]) -> InvalidArguments:
    """A misspelt filter must not vanish: the answer would look like one to the question that was meant."""
    strange = [name[:LONGEST_NAME] for name in sorted(given)[:MOST_PROBLEMS]]
    taken = ", ".join(known) or "none"
    return InvalidArguments(
        f"{tool} does not take {', '.join(strange)}. It takes: {taken}.", unknown=strange, known=known
    )


def unknown_tool(name: str, known: list[str]) -> NotFound:
    """Also for a tool that only the other profile has."""
    return NotFound(f"There is no tool {name[:LONGEST_NAME]!r} here. There are: {', '.join(known)}.", known=known)


def as_mnemon_error(failure: Exception, tool: str) -> MnemonError:
    """What an unexpected failure may say to a stranger; the log has the rest."""
    if isinstance(failure, MnemonError):
        return failure
    if isinstance(failure, psycopg.DataError):
        return InvalidArguments("A value cannot be stored or searched for: text has no zero bytes.")
    if isinstance(failure, psycopg.OperationalError):
        log.error("database_failed", tool=tool, error=str(failure).strip())
        return DatabaseUnavailable("The database does not answer just now: try again.")
    log.error("tool_failed", tool=tool, exc_info=failure)
    return MnemonError("Something went wrong here; the server's log has the details.", tool=tool)
