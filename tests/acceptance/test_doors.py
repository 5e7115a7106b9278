"""The doors agree: an operation has the same names, limits and failures everywhere, or a reason for the difference."""

from collections.abc import Callable, Iterable
from typing import Any, get_args

import pytest

from mnemon.api.failures import ToldApi
from mnemon.api.reference import routes
from mnemon.api.server import add_routes
from mnemon.cli.reference import commands
from mnemon.doors import Binding, bindings, declared_operations
from mnemon.errors import InvalidRequest, NotAllowed, NotAuthenticated
from mnemon.mcp.reference import tools
from mnemon.memory.errors import InvalidMemory
from mnemon.operations import NOT_OFFERED, Door, Operation, model_of, offered
from mnemon.web.forms import form_of

OPERATIONS = declared_operations()
BINDINGS = bindings()
# What a door has beside operations, and why. Commands say it themselves, with `on_its_own`.
NO_OPERATION = {
    "GET /asyncapi.json": "For programs that follow events, as /openapi.json is for those that call.",
    "GET /health": "For whoever watches the process; it needs no credential.",
    "GET /ready": "For whoever watches the process; it needs no credential.",
    "GET /metrics": "For Prometheus; it needs no credential.",
    "status": "Tells an agent how this server is set up.",
    "embedding_health": "Named by the tools' specification; the others ask `GET /ready`.",
}
# What an option, a form or a schema may add beside the field itself.
LIMITS = ("maxLength", "minLength", "minimum", "maximum", "pattern", "enum", "type", "format", "items", "maxItems")


def on_every(door: Door, check: Callable[[Binding], None]) -> None:
    for_each(
        ((f"{one.bound.operation.name} at {one.place}", one) for one in BINDINGS if one.door == door),
        check,
    )


def for_each(named: Iterable[tuple[str, Any]], check: Callable[[Any], None]) -> None:
    """One test for a door and not one for each of its operations: it names every one that differs."""
    differing = []
    compared = list(named)
    for name, one in compared:
        try:
            check(one)
        except Exception as failure:
            differing.append(f"{name}: {type(failure).__name__} {failure}")
    assert compared
    assert not differing, "\n".join(differing)


def expected(one: Binding) -> dict[str, Any]:
    """The schema of each field that the door should offer."""
    fields = offered(one.bound.operation, one.bound.differences)
    schema = model_of("Expected", fields).model_json_schema()
    return {name: limits(field) for name, field in schema.get("properties", {}).items()}


def limits(schema: dict[str, Any]) -> Any:
    """Without what is only said for people."""
    if "anyOf" in schema:
        return [limits(one) for one in schema["anyOf"]]
    found = {name: schema[name] for name in LIMITS if name in schema}
    return found | {"items": limits(schema["items"])} if "items" in schema else found


@pytest.fixture(scope="module")
def openapi() -> dict[str, Any]:
    api = ToldApi()
    add_routes(api)
    return api.openapi()


def test_an_operation_is_on_every_door_or_the_reason_is_told() -> None:
    for_each(((one.name, one) for one in OPERATIONS), stands_everywhere)


def stands_everywhere(operation: Operation[Any, Any]) -> None:
    present = {one.door for one in BINDINGS if one.bound.operation is operation}
    assert present | set(operation.absent) == set(get_args(Door))
    assert not present & set(operation.absent)
    assert operation.summary.endswith(".")
    operation.input.model_validate(operation.example)
    for field in operation.input.model_fields.values():
        assert field.description


def test_whatever_is_no_operation_says_why() -> None:
    places = [f"{one.method} {one.path}" for one in routes() if one.in_schema and not one.bound]
    places += [one.name for one in tools() if not one.bound]
    assert sorted(places) == sorted(NO_OPERATION)
    for line in commands():
        assert bool(line.bound) != bool(line.on_its_own), line.words


@pytest.mark.parametrize("door", get_args(Door))
def test_a_difference_has_its_reason(door: Door) -> None:
    on_every(door, differs_with_a_reason)


def differs_with_a_reason(one: Binding) -> None:
    for name, differs in one.bound.differences.items():
        assert name in one.bound.operation.input.model_fields
        assert len(differs.why) > 10
        default = one.bound.operation.input.model_fields[name].default
        assert differs.default is NOT_OFFERED or differs.default != default


def test_rest_takes_what_was_declared(openapi: dict[str, Any]) -> None:
    def check(one: Binding) -> None:
        method, _, path = one.place.replace(":path}", "}").partition(" ")
        route = openapi["paths"][path][method.lower()]
        parameters = [parameter for parameter in route.get("parameters", ()) if not parameter["name"].startswith("x-")]
        found = {parameter["name"]: limits(parameter["schema"]) for parameter in parameters}
        if "requestBody" in route:
            [body] = route["requestBody"]["content"].values()
            named = body["schema"].get("$ref", "").rpartition("/")[2]
            schema = openapi["components"]["schemas"][named] if named else body["schema"]
            found |= {name: limits(field) for name, field in schema["properties"].items()}
        assert found == expected(one)
        malformed = InvalidMemory if path.startswith("/v1/memory") else InvalidRequest
        errors = (*one.bound.operation.errors, NotAuthenticated, NotAllowed, malformed)
        assert {str(error.status) for error in errors} <= set(route["responses"])

    on_every("rest", check)


def test_tools_take_what_was_declared() -> None:
    by_name = {tool.name: tool for tool in tools()}

    def check(one: Binding) -> None:
        tool = by_name[one.place]
        taken = {
            name: limits(field) for name, field in tool.schema["properties"].items() if name not in one.bound.beside
        }
        assert taken == {name: _told_once(field) for name, field in expected(one).items()}

    on_every("mcp", check)


def _told_once(kinds: Any) -> Any:
    """What may be left out is not said to be null too, in the words that every conversation pays for."""
    if not isinstance(kinds, list):
        return kinds
    left = [one for one in kinds if one != {"type": "null"}]
    return left[0] if len(left) == 1 else kinds


def test_commands_take_what_was_declared() -> None:
    lines = {line.words: line for line in commands()}

    def check(one: Binding) -> None:
        line = lines[one.place]
        by_name = {parameter.name: parameter for parameter in line.command.params}
        assert set(by_name) - {"tenant", "as_json", "yes"} - one.bound.beside == set(expected(one)) - one.bound.beside
        for name, schema in expected(one).items():
            given = by_name[name]
            if isinstance(schema, dict) and "maximum" in schema:
                assert (given.min, given.max) == (schema["minimum"], schema["maximum"])
            if given.param_type_name == "option":
                assert f"--{name.replace('_', '-')}" in given.opts

    on_every("command", check)


def test_forms_offer_what_was_declared() -> None:
    def check(one: Binding) -> None:
        form = form_of(one.bound.operation, {}, differences=one.bound.differences)
        assert {field.name for field in form.fields()} | {"cursor"} == set(expected(one)) | {"cursor"}

    on_every("web", check)


def test_every_failure_of_every_route_has_the_one_schema(openapi: dict[str, Any]) -> None:
    assert "HTTPValidationError" not in openapi["components"]["schemas"]
    for path, methods in openapi["paths"].items():
        for route in methods.values():
            for status, answer in route["responses"].items():
                if path.startswith("/v1") and not status.startswith("2"):
                    [schema] = [one["schema"] for one in answer["content"].values()]
                    assert schema == {"$ref": "#/components/schemas/Failure"}, (path, status)
            malformed = "400" if path.startswith("/v1/memory") else "422"
            assert not path.startswith("/v1") or {"401", "403", malformed, "default"} <= set(route["responses"])
            assert malformed == "422" or "422" not in route["responses"]


def test_a_bound_route_answers_with_a_declared_type(openapi: dict[str, Any]) -> None:
    def check(one: Binding) -> None:
        method, _, path = one.place.replace(":path}", "}").partition(" ")
        answers = openapi["paths"][path][method.lower()]["responses"]
        good = [answer.get("content", {}) for status, answer in answers.items() if status[0] == "2"]
        assert good
        for kinds in good:
            schema = kinds.get("application/json", {}).get("schema", {"$ref": "no JSON"})
            assert all("$ref" in one for one in schema.get("anyOf", [schema]))

    on_every("rest", check)
