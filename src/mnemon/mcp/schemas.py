"""The schemas of tools as a model reads them: as short as they can be without saying less."""

from typing import Any

NAMED = ("properties", "$defs")
LISTED = ("anyOf", "allOf", "oneOf", "prefixItems")
SINGLE = ("items", "additionalProperties")


def drop_titles(schema: dict[str, Any]) -> None:
    """The titles that pydantic makes only repeat the names, in every conversation that lists the tools."""
    schema.pop("title", None)
    inner = [one for key in NAMED for one in schema.get(key, {}).values()]
    inner += [one for key in LISTED for one in schema.get(key, ())]
    inner += [schema[key] for key in SINGLE if isinstance(schema.get(key), dict)]
    for one in inner:
        drop_titles(one)
