"""What a refusal says on a terminal: the option as it is typed, and the commands that show ids."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mnemon.cli.binding.options import as_typed
from mnemon.errors import InvalidRequest, NotFound
from mnemon.problems import UUID_FORM

# By how the ids begin.
SHOWN_BY = {
    "evt_": "`mnemon events list` and `mnemon events commitments` show them",
    "uid_": "`mnemon artifact show TITLE` shows it",
    "rev_": "`mnemon artifact revisions UID` shows them",
}
# By the field that takes an id without such a beginning.
LISTED_BY = {
    "token_id": "`mnemon token list` shows them",
    "query_id": "the line below an answer of `mnemon ask` has it",
    "doc_id": "`mnemon documents list` shows them",
    "doc_version_id": "`mnemon documents versions NAME` shows them",
    "run_id": "`mnemon runs list` shows them",
    "job_id": "`mnemon jobs list` shows them",
    "emo_id": "`mnemon memory list` shows them",
    "source_id": "`mnemon sources list` shows them",
    "event_id": "`mnemon events list` shows them",
    "recipient_id": "`mnemon webhooks list` and `mnemon digests list` show them",
}


@contextmanager
def told_as_typed(typed: Mapping[str, str], given: Mapping[str, Any] | None = None) -> Iterator[None]:
    """A refusal names a field as it is declared; nobody has typed that. What programs read of it stays."""
    try:
        yield
    except NotFound as refusal:
        by = next((by for name, by in LISTED_BY.items() if name in refusal.details), None)
        if by and "`" not in refusal.message:
            refusal.message = f"{refusal.message.rstrip('.')}: {by}."
        raise
    except InvalidRequest as refusal:
        [first, *_] = refusal.details.get("problems") or [{"field": "", "problem": ""}]
        field, _, _ = first["field"].partition(".")
        if field in typed and refusal.message == f"{first['field']}: {first['problem']}":
            problem = _with_value(first["problem"], (given or {}).get(field))
            refusal.message = f"{typed[field]}: {problem}{_where_shown(field, first['problem'])}"
        else:
            refusal.message = as_typed(refusal.message, typed)
        raise


def _with_value(problem: str, value: Any) -> str:
    """What was taken for an id is no secret."""
    return f"{value!r} {problem}" if problem == UUID_FORM and isinstance(value, str) else problem


def _where_shown(field: str, problem: str) -> str:
    if problem == UUID_FORM:
        return f"; {LISTED_BY[field]}" if field in LISTED_BY else ""
    return next((f"; {by}" for begins, by in SHOWN_BY.items() if problem.endswith(f"begin with {begins}")), "")
