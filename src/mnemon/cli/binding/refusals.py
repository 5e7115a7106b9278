"""What a refusal says on a terminal: the option as it is typed, and the commands that show ids."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from mnemon.errors import InvalidRequest

# By how the ids begin.
SHOWN_BY = {
    "evt_": "`mnemon events list` and `mnemon events commitments` show them",
    "uid_": "`mnemon artifact show TITLE` shows it",
    "rev_": "`mnemon artifact revisions UID` shows them",
}


@contextmanager
def told_as_typed(typed: Mapping[str, str]) -> Iterator[None]:
    """A refusal names a field as it is declared; nobody has typed that. What programs read of it stays."""
    try:
        yield
    except InvalidRequest as refusal:
        [first, *_] = refusal.details.get("problems") or [{"field": "", "problem": ""}]
        field, _, _ = first["field"].partition(".")
        if field in typed and refusal.message == f"{first['field']}: {first['problem']}":
            refusal.message = f"{typed[field]}: {first['problem']}{_where_shown(first['problem'])}"
        raise


def _where_shown(problem: str) -> str:
    return next((f"; {by}" for begins, by in SHOWN_BY.items() if problem.endswith(f"begin with {begins}")), "")
