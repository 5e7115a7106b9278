"""Schemas of tools as agents read them: every conversation that lists the tools pays for each word."""

from typing import Any

# Where a schema holds others.
NAMED = ("properties", "$defs")
LISTED = ("anyOf", "allOf", "oneOf", "prefixItems")
SINGLE = ("items", "additionalProperties")

# What agents hardly ever give, of the tools in the short list; the full list takes it. Documents are named by their
# uid here, and how an answer was weighed is for those who build on it.
RARE = frozenset({
    "all_revisions", "as_of", "as_words", "confidence_min", "doc_id", "doc_version_id", "due_from", "due_to", "explain",
    "include_evidence", "key", "kind", "known_at", "media_type", "reason", "source", "source_system", "subject",
})  # fmt: skip


def drop_titles(schema: dict[str, Any]) -> None:
    """The titles that pydantic makes only repeat the names, in every conversation that lists the tools."""
    schema.pop("title", None)
    inner = [one for key in NAMED for one in schema.get(key, {}).values()]
    inner += [one for key in LISTED for one in schema.get(key, ())]
    inner += [schema[key] for key in SINGLE if isinstance(schema.get(key), dict)]
    for one in inner:
        drop_titles(one)


def shorten_optional(schema: dict[str, Any]) -> None:
    """What may be left out says so by not being required: "or null, null unless given" tells no more."""
    for name, one in schema.get("properties", {}).items():
        kinds = [kind for kind in one.get("anyOf", ()) if kind != {"type": "null"}]
        if len(kinds) == 1 and one.get("default", ...) is None:
            rest = {key: value for key, value in one.items() if key not in ("anyOf", "default")}
            schema["properties"][name] = {**kinds[0], **rest}


def spare_bounds(schema: dict[str, Any]) -> None:
    """Lengths and examples that hardly any call comes near: they hold all the same, and a refusal tells them."""
    for one in schema.get("properties", {}).values():
        for name in ("examples", "maxItems", "maxLength", "maximum", "minLength", "minimum", "pattern"):
            one.pop(name, None)
        if isinstance(one.get("items"), dict):
            for name in ("maxLength", "minLength"):
                one["items"].pop(name, None)
        # Nothing, none and no are what anybody takes for granted.
        if "default" in one and not one["default"]:
            del one["default"]
    if "limit" in schema.get("properties", {}):
        schema["properties"]["limit"].pop("description", None)


def spare_rare(schema: dict[str, Any]) -> None:
    """A tool of the short list takes what is asked for often, and refuses the rest by its name."""
    fields, required = schema.get("properties", {}), schema.get("required", ())
    for name in [name for name in fields if name in RARE and name not in required]:
        del fields[name]
