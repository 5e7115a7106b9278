"""A schema that could freeze the server is refused when it is registered; those that people write are not."""

from typing import Any
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.errors import InvalidRequest
from mnemon.log.types.event_type import EventType
from mnemon.log.types.registry import CompiledType, Registry
from mnemon.log.types.schema_work import check_schema_work

DOUBLED = {
    "$ref": "#/$defs/a0",
    "$defs": {
        **{f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]} for n in range(30)},
        "a30": {"type": "object"},
    },
}


def doubled(before: str, below: dict[str, Any] | None = None) -> dict[str, Any]:
    """As above, by references that begin like this."""
    both = {
        f"a{n}": {"allOf": [{"$ref": f"{before}#/$defs/a{n + 1}"}, {"$ref": f"{before}#/$defs/a{n + 1}"}]}
        for n in range(30)
    }
    return {"$ref": f"{before}#/$defs/a0", "$defs": {**both, "a30": {"type": "object"}, **(below or {})}}


def levels(depth: int) -> dict[str, Any]:
    twice = {f"a{n}": {"properties": {"x": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2}}} for n in range(depth)}
    return {"$ref": "#/$defs/a0", "$defs": {**twice, f"a{depth}": {"type": "integer"}}}


ALONG = {
    "$defs": {
        f"a{n}": {
            "properties": {"x": {"$ref": f"#/$defs/a{n}"}},
            "patternProperties": {"x": {"$ref": f"#/$defs/a{n + 1}"}},
        }
        for n in range(5)
    }
    | {"a5": {}},
    "$ref": "#/$defs/a0",
}
JSON = {
    "$defs": {
        "any": {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"$ref": "#/$defs/any"}},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/any"}},
            ]
        }
    },
    "properties": {"value": {"$ref": "#/$defs/any"}, "country": {"enum": [f"c{n}" for n in range(3_000)]}},
}
TREE = {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "size": {"type": "integer"}}}
NEXT = {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}
LIST = {"$defs": {"n": {"properties": {"next": NEXT}}}, "$ref": "#/$defs/n"}
YES = {"$id": "http://x.test/yes", "$ref": "http://x.test/yes#/$defs/a", "$defs": {"a": True}}
PLAIN = {
    "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"amount": {"type": "number"}}}],
    "$defs": {"base": {"properties": {"who": {"$ref": "#/$defs/person"}, "by": {"$ref": "#/$defs/person"}}},
              "person": {"type": "object", "required": ["name"]}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (DOUBLED, "applied to one value"),
        ({"allOf": [{"$ref": "#"}]}, "refers to itself without going into the value"),
        ({"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}, "twice to the same value"),
        ({"properties": {"a": {"$ref": "#"}}, "patternProperties": {"^a": {"$ref": "#"}}}, "twice to the same value"),
        ({"anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]}, "twice to the same value"),
        (
            {"$defs": {"x": {"$anchor": "x", "items": {"allOf": [{"$ref": "#x"}, {"$ref": "#x"}]}}}, "$ref": "#x"},
            "twice to the same value",
        ),
        # By names that only the validator would understand.
        ({"$id": "http://x.test/s/whole", **doubled("whole")}, "no part of it"),
        ({"$id": "http://x.test/s/whole", **doubled("/s/whole")}, "no part of it"),
        ({"$id": "http://x.test/s/whole", **doubled("http://x.test/s/whole")}, "applied to one value"),
        ({"$ref": "#/$defs/s", "$defs": {"s": {"$id": "http://y.test/", **doubled("")}}}, "only the whole may have"),
        ({"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}, "$ref": "#x"}, "two parts have the anchor"),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, "no part of it"),
        ({"$ref": "#/$defs/none"}, "no part of it"),
        (
            {
                "$defs": {
                    f"a{n}": {"dependencies": {one: {"$ref": f"#/$defs/a{n + 1}"} for one in "kl"}} for n in range(9)
                }
                | {"a9": {"dependencies": {one: {"type": "object"} for one in "kl"}}},
                "$ref": "#/$defs/a0",
            },
            "applied to one value",
        ),
        ({"properties": {f"p{n}": {"type": "string"} for n in range(25_000)}}, "parts, the limit is"),
        # Twice at each level, and no part refers to itself.
        (levels(30), "applied to one value"),
        # What refers to itself brings another along at each level, which brings another.
        (ALONG, "applied to one value"),
        ({"properties": {"a": {"contains": {"enum": [{"b": n} for n in range(3_000)]}}}}, "applied to one value"),
    ],
)
def test_a_schema_that_asks_for_endless_work_is_refused(schema: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason) as refused:
        check_schema_work(schema, "evil")
    assert "evil" in refused.value.message


@pytest.mark.parametrize("schema", [{}, TREE, LIST, PLAIN, JSON, levels(5), {"properties": {"a": True}}, YES])
def test_a_schema_that_people_write_is_not(schema: dict[str, Any]) -> None:
    check_schema_work(schema, "usual")


def test_data_that_does_not_fit_in_many_places_gets_a_short_answer() -> None:
    compiled = CompiledType(EventType(type="shop.list", data_schema={"items": {"const": "a"}}))
    problems = compiled.violations(["b" * 10_000] * 10_000)
    assert len(problems) == 100
    assert sum(map(len, problems)) <= 100_000


def test_many_parts_that_meet_many_others_are_looked_at_in_bounded_time() -> None:
    wide = {"anyOf": [{"type": "string"}] * 900}
    schema = {"$defs": {f"d{n}": wide for n in range(2_000)}}
    with pytest.raises(InvalidRequest):
        check_schema_work(schema, "wide")


async def test_it_is_refused_at_registration(database: Database, tenant: UUID) -> None:
    evil = EventType(type="shop.evil", data_schema=DOUBLED, examples=[{}])
    async with database.transaction(tenant) as connection:
        with pytest.raises(InvalidRequest, match="more work than any event is worth"):
            await Registry(database).check_in(connection, tenant, evil)
