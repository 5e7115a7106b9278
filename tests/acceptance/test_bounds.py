"""Every number that an operation takes has bounds, so that no door passes on what no column holds."""

from collections.abc import Iterator
from typing import Any

import pytest

from mnemon.doors import declared_operations
from mnemon.operations import Operation


def unbounded(schema: Any, where: str = "") -> Iterator[str]:
    if isinstance(schema, list):
        for part in schema:
            yield from unbounded(part, where)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "integer" and not (
        {"maximum", "exclusiveMaximum", "enum", "const"} & schema.keys()
        and {"minimum", "exclusiveMinimum", "enum", "const"} & schema.keys()
    ):
        yield where
    for name, part in schema.items():
        if name not in ("examples", "example", "default"):
            yield from unbounded(part, f"{where}/{name}")


@pytest.mark.parametrize("operation", declared_operations(), ids=lambda one: one.name)
def test_its_numbers_have_bounds(operation: Operation[Any, Any]) -> None:
    assert list(unbounded(operation.input.model_json_schema())) == []
