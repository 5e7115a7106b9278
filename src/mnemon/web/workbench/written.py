"""What a person writes into a form of the workbench, as values: lists a line each, structures as JSON."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from mnemon.errors import InvalidRequest
from mnemon.operations import In, Operation, read_input
from mnemon.web.forms import FormField, form_of

Kind = Literal["plain", "lines", "json"]


def fields_of(operation: Operation[Any, Any], given: Mapping[str, str]) -> list[FormField]:
    """As the form shows them; the example stands where nothing was written."""
    needed = {name for name, one in operation.input.model_fields.items() if one.is_required()}
    kinds = _kinds(operation)
    fields = []
    for one in form_of(operation, given).fields():
        kind = one.kind if kinds[one.name] == "plain" else kinds[one.name]
        limits = {**one.limits, "required": True} if one.name in needed else one.limits
        if kind not in ("select", "checkbox", "date"):
            limits = {**limits, "placeholder": _shown(operation.example.get(one.name), kinds[one.name])}
        fields.append(replace(one, kind=kind, limits={name: value for name, value in limits.items() if value != ""}))
    return fields


def read_written(operation: Operation[In, Any], given: Mapping[str, str]) -> In:
    """Blank fields say nothing."""
    kinds = _kinds(operation)
    values = {
        name: _value(name, text, kinds[name])
        for name, text in given.items()
        if name in operation.input.model_fields and text.strip()
    }
    return read_input(operation, values)


def _value(name: str, text: str, kind: Kind) -> Any:
    if kind == "lines":
        return [line.strip() for line in text.splitlines() if line.strip()]
    if kind == "plain":
        return text.strip()
    try:
        return json.loads(text)
    except ValueError as failure:
        raise InvalidRequest(f"{name}: this is not JSON: {failure}.", field=name) from None


def _shown(example: Any, kind: Kind) -> str:
    if example is None:
        return ""
    if kind == "lines" and isinstance(example, list):
        return "\n".join(map(str, example))
    return json.dumps(example, ensure_ascii=False) if kind == "json" else str(example)


def _kinds(operation: Operation[Any, Any]) -> dict[str, Kind]:
    schema = operation.input.model_json_schema()
    known = schema.get("$defs", {})
    return {name: _kind(one, known) for name, one in schema.get("properties", {}).items()}


def _kind(schema: Mapping[str, Any], known: Mapping[str, Any]) -> Kind:
    if "$ref" in schema:
        return _kind(known[schema["$ref"].rpartition("/")[2]], known)
    told = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if told:
        return _kind(told[0], known)
    if schema.get("type") == "array":
        return "lines" if _kind(schema.get("items", {}), known) == "plain" and "items" in schema else "json"
    return "json" if schema.get("type") == "object" else "plain"
