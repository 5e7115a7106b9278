"""Refusals speak plainly: no validator's own words."""

import re
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from mnemon.problems import plain_problem

RAW = re.compile(
    r"Input should|should be a valid|should have at|Field required|Extra inputs|Value error|unable to parse"
)


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Form(BaseModel):
    """One field of every kind that our inputs have."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(min_length=1, max_length=5)] = "a"
    named: Annotated[str, Field(pattern="^evt_")] = "evt_"
    number: Annotated[int, Field(ge=1, le=10)] = 1
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    truth: bool = True
    colour: Colour = Colour.RED
    way: Literal["up", "down"] = "up"
    key: UUID | None = None
    day: date | None = None
    moment: datetime | None = None
    zoned: AwareDatetime | None = None
    items: Annotated[list[int], Field(max_length=2)] = []
    inner: dict[str, Any] = {}


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("text", "", "is empty"),
        ("text", "abcdef", "has at most 5 characters"),
        ("text", 5, "must be a text"),
        ("named", "x", "is not an id of this kind: they begin with evt_"),
        ("number", "many", "is not a whole number"),
        ("number", 0, "must be at least 1"),
        ("number", 11, "must be at most 10"),
        ("number", 1.5, "is not a whole number"),
        ("share", 0, "must be more than 0.0"),
        ("share", 1, "must be less than 1.0"),
        ("share", "half", "is not a number"),
        ("truth", "perhaps", "must be true or false"),
        ("colour", "green", "must be one of 'red' or 'blue'"),
        ("way", "left", "must be one of 'up' or 'down'"),
        ("key", "7", "is not an id"),
        ("day", "tomorrow", "is not a day"),
        ("moment", "noon", "is not a moment"),
        ("zoned", "2026-05-01T12:00:00", "does not say its time zone"),
        ("items", [1, 2, 3], "has at most 2 items"),
        ("items", 3, "must be a list"),
        ("inner", 3, "must be an object"),
        ("strange", 3, "is not known here"),
    ],
)
def test_a_problem_is_told_in_plain_words(field: str, value: object, says: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Form.model_validate({field: value})
    told = [plain_problem(one) for one in refused.value.errors(include_url=False, include_input=False)]
    assert told[0].startswith(says)
    assert not any(RAW.search(one) for one in told)


def test_a_missing_field_is_named_so() -> None:
    class Needy(BaseModel):
        name: str

    with pytest.raises(ValidationError) as refused:
        Needy.model_validate({})
    assert [plain_problem(one) for one in refused.value.errors()] == ["is missing"]


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        (r"^uid_[A-Za-z0-9]{1,64}$", "begin with uid_"),
        (r"^(rev_[A-Za-z0-9]{1,64}|[0-9]{1,9})$", "begin with rev_"),
        ("^(active|deleted)$", "one of active, deleted"),
    ],
)
def test_a_form_is_told_without_its_pattern(pattern: str, told: str) -> None:
    problem = plain_problem({"type": "string_pattern_mismatch", "ctx": {"pattern": pattern}, "msg": ""})
    assert told in problem
    assert "[" not in problem and "^" not in problem
