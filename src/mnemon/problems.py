"""What is wrong with a value, in plain words: a validator's own are for programmers."""

import re
from collections.abc import Callable, Mapping
from typing import Any

Context = Mapping[str, Any]
UUID_FORM = "is not an id: ids look like 01890a5d-ac96-774b-bcce-b302099a8057"
MOMENT_FORM = "is not a moment: write 2026-05-01T12:00:00+02:00, or 2026-05-01T10:00:00Z"
KIND_OF_ID = "is not an id of this kind: they begin with"
NUMBER_FORM = "is not a whole number"
# "^uid_[A-Za-z0-9]{1,64}$", "^(active|deleted)$": what people are told instead of the pattern.
_ID_OF_A_KIND = re.compile(r"\^\(?(?P<begins>[a-z]+[_-])")
_CHOICE = re.compile(r"\^\((?P<words>[a-z]+(?:\|[a-z]+)+)\)\$")
# By the validator's name of the fault; the words stand after the field's name and a colon.
WORDS: Mapping[str, str | Callable[[Context], str]] = {
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "string_type": "must be a text",
    "string_too_long": lambda told: f"has at most {told['max_length']:,} characters",
    "string_too_short": lambda told: _least(told["min_length"], "character"),
    "string_pattern_mismatch": lambda told: _form(told["pattern"]),
    "too_long": lambda told: f"has at most {told['max_length']:,} items",
    "too_short": lambda told: _least(told["min_length"], "item"),
    "list_type": "must be a list",
    "dict_type": "must be an object with fields",
    "model_type": "must be an object with fields",
    "model_attributes_type": "must be an object with fields",
    "int_type": NUMBER_FORM,
    "int_parsing": NUMBER_FORM,
    "int_parsing_size": "is too large a number",
    "int_from_float": NUMBER_FORM,
    "float_type": "is not a number",
    "float_parsing": "is not a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "greater_than": lambda told: f"must be more than {told['gt']}",
    "greater_than_equal": lambda told: f"must be at least {told['ge']}",
    "less_than": lambda told: f"must be less than {told['lt']}",
    "less_than_equal": lambda told: f"must be at most {told['le']}",
    "enum": lambda told: f"must be one of {told['expected']}",
    "literal_error": lambda told: f"must be one of {told['expected']}",
    "uuid_parsing": UUID_FORM,
    "uuid_type": UUID_FORM,
    "uuid_version": UUID_FORM,
    "date_type": "is not a day: write 2026-05-01",
    "date_parsing": "is not a day: write 2026-05-01",
    "date_from_datetime_parsing": "is not a day: write 2026-05-01",
    "date_from_datetime_inexact": "is a moment, and a day is wanted: write 2026-05-01",
    "datetime_type": MOMENT_FORM,
    "datetime_parsing": MOMENT_FORM,
    "datetime_from_date_parsing": MOMENT_FORM,
    "timezone_aware": "does not say its time zone: add Z or an offset like +02:00",
    "json_invalid": lambda told: f"The body is not JSON: {told['error']}.",
    "none_required": "must be null",
}
# A check of our own that says all in one sentence, with the value and what to do: no field's name before it.
SENTENCE = "sentence"
# These say all by themselves; of JSON that cannot be read no field is known, only a place.
WHOLE = frozenset({SENTENCE, "json_invalid"})
# A check of our own speaks plainly already; the validator puts this before it.
OWN_WORDS = "Value error, "


def plain_problem(error: Mapping[str, Any]) -> str:
    """Of one error as the validator lists it."""
    words = WORDS.get(error.get("type", ""))
    told = error.get("ctx") or {}
    try:
        return words(told) if callable(words) else words or str(error["msg"]).removeprefix(OWN_WORDS)
    except KeyError:
        return str(error["msg"])


def told_of(field: str, error: Mapping[str, Any]) -> str:
    """The problem with the field that has it."""
    problem = plain_problem(error)
    return problem if error.get("type") in WHOLE else f"{field}: {problem}"


def _least(number: int, noun: str) -> str:
    return "is empty" if number == 1 else f"has at least {number:,} {noun}s"


def _form(pattern: str) -> str:
    if kind := _ID_OF_A_KIND.match(pattern):
        return f"{KIND_OF_ID} {kind['begins']}"
    if choice := _CHOICE.fullmatch(pattern):
        return f"must be one of {', '.join(choice['words'].split('|'))}"
    return f"does not have the form {pattern}"
