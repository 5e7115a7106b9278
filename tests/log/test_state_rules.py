"""State rules: what each kind does to a state, and what is refused before any event is recorded."""

from typing import Any

import pytest

from mnemon.errors import InvalidRequest
from mnemon.log.types.state_rules import LONGEST_LIST, StateRule


def rule(**given: Any) -> StateRule:
    return StateRule(entity_type="order", **given)


def test_values_are_set_from_paths_and_as_they_are() -> None:
    given = rule(set={"status": "paid", "city": "$.address.city", "names": "$.lines[*].name", "by": "$.by"})
    data = {"address": {"city": "Rome"}, "lines": [{"name": "a"}, {"name": "b"}]}
    before = {"by": "Ann", "city": "Bonn"}
    assert given.apply(before, data) == {"status": "paid", "city": "Rome", "names": ["a", "b"], "by": "Ann"}
    assert before == {"by": "Ann", "city": "Bonn"}, "the state before is left alone"


def test_names_are_removed_counted_added_up_and_collected() -> None:
    given = rule(remove=("draft",), count=("changes",), add={"total": "$.lines[*].amount"}, append={"notes": "$.note"})
    state: dict[str, Any] = {"draft": True}
    for note in ("a", "b"):
        state = given.apply(state, {"note": note, "lines": [{"amount": 2}, {"amount": 0.5}]})
    assert state == {"changes": 2, "total": 5.0, "notes": ["a", "b"]}


@pytest.mark.parametrize("data", [{}, {"n": "[REDACTED]"}, {"n": None}, {"n": True}, {"n": [1]}, {"n": {"n": 1}}])
def test_whatever_stands_in_an_event_gives_a_state(data: dict[str, Any]) -> None:
    given = rule(add={"total": "$.n"}, append={"all": "$.n[*].x"}, set={"deep": "$.n.n.n"})
    assert given.apply({"total": 1}, data) == {"total": 1}


def test_a_name_that_was_used_otherwise_before_starts_anew() -> None:
    assert rule(count=("a",), append={"b": 1}).apply({"a": "text", "b": "text"}, {}) == {"a": 1, "b": [1]}


def test_a_list_keeps_its_newest_values() -> None:
    state = rule(append={"all": "$.n"}).apply({"all": list(range(LONGEST_LIST))}, {"n": "new"})
    assert len(state["all"]) == LONGEST_LIST and state["all"][-1] == "new"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "1 to 50 names"),
        ({"set": {"Status": 1}}, "not a name"),
        ({"set": {"a": 1}, "count": ("a",)}, "twice"),
        ({"set": {"a": "$.nothing"}}, "has no nothing"),
        ({"set": {"a": "$.status..x"}}, "not a path"),
        ({"add": {"a": "5"}}, "is a path"),
        ({"set": {"a": {"b": 1}}}, "short text"),
    ],
)
def test_what_could_never_work_is_refused(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        rule(**given).check({"status": {}})


def test_a_rule_survives_its_json() -> None:
    one = rule(role="subject", set={"a": "$.status"}, remove=("b",), add={"c": "$.n"}, count=("d",), append={"e": 1})
    assert StateRule.from_json(one.as_json()) == one
