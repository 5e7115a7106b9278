"""The pages about the API: every route as OpenAPI has it, with its fields, an example and a form to try it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response

from mnemon.api.access import MnemonPart
from mnemon.errors import NotFound
from mnemon.identity.roles import Action
from mnemon.web.rendering import as_page, render, visit

router = APIRouter(include_in_schema=False)
OTHER = "server"
METHODS = ("get", "post", "put", "patch", "delete")
Schema = Mapping[str, Any]


@dataclass(frozen=True)
class ApiField:
    """A parameter, or a field of a body."""

    name: str
    place: str
    kind: str
    needed: bool
    meaning: str
    example: str


@dataclass(frozen=True)
class ApiRoute:
    """One route, as a person reads about it."""

    method: str
    path: str
    summary: str
    description: str
    fields: Sequence[ApiField]
    body: str
    curl: str

    @property
    def anchor(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", f"{self.method} {self.path.removeprefix('/v1')}".lower()).strip("-")


@router.get("/docs")
@as_page
async def overview(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, Action.VIEW_OWN_ACCOUNT)
    groups = grouped(request.app, mnemon.url)
    return render("api.html", here="api", visitor=visitor, groups=groups, chosen=None, url=mnemon.url)


@router.get("/docs/{group}")
@as_page
async def one_group(request: Request, mnemon: MnemonPart, group: str) -> Response:
    visitor = await visit(request, Action.VIEW_OWN_ACCOUNT)
    groups = grouped(request.app, mnemon.url)
    if group not in groups:
        raise NotFound(f"The API has no group {group!r}.")
    return render("api.html", here="api", visitor=visitor, groups=groups, chosen=group, url=mnemon.url)


def grouped(site: FastAPI, url: str) -> dict[str, list[ApiRoute]]:
    """Kept beside the description that it is made of, which never changes while a server runs."""
    known: dict[str, list[ApiRoute]] | None = getattr(site.state, "api_groups", None)
    if known is None:
        known = {}
        for tag, route in _routes(site.openapi(), url):
            known.setdefault(tag.replace(" ", "-"), []).append(route)
        site.state.api_groups = known
    return known


def _routes(openapi: Schema, url: str) -> Iterator[tuple[str, ApiRoute]]:
    for path, methods in openapi["paths"].items():
        for method in METHODS:
            if method in methods:
                route = methods[method]
                yield (route.get("tags") or [OTHER])[0], _route(openapi, url, path, method, route)


def _route(openapi: Schema, url: str, path: str, method: str, route: Schema) -> ApiRoute:
    fields = [_parameter(openapi, one) for one in route.get("parameters", ())]
    schema = _json_body(openapi, route)
    required = schema.get("required", ())
    fields += [
        _field(openapi, name, "body", one, name in required) for name, one in schema.get("properties", {}).items()
    ]
    body = json.dumps(_example(openapi, schema), indent=2, ensure_ascii=False) if schema else ""
    return ApiRoute(
        method.upper(), path, route.get("summary", ""), route.get("description", ""), fields, body,
        _curl(url, path, method, body, fields),
    )  # fmt: skip


def _json_body(openapi: Schema, route: Schema) -> Schema:
    content = route.get("requestBody", {}).get("content", {})
    return _resolved(openapi, content["application/json"]["schema"]) if "application/json" in content else {}


def _resolved(openapi: Schema, schema: Schema) -> Schema:
    name = schema.get("$ref", "").rpartition("/")[2]
    return openapi["components"]["schemas"][name] if name else schema


def _parameter(openapi: Schema, one: Schema) -> ApiField:
    return _field(openapi, one["name"], one["in"], {**one["schema"], **one}, one.get("required", False))


def _field(openapi: Schema, name: str, place: str, schema: Schema, needed: bool) -> ApiField:
    inner = _resolved(openapi, schema.get("schema", schema))
    found = schema.get("example", (inner.get("examples") or [inner.get("default")])[0])
    example = "" if found is None or isinstance(found, dict | list) else str(found)
    return ApiField(name, place, _kind(openapi, inner), needed, schema.get("description", ""), example)


def _kind(openapi: Schema, schema: Schema) -> str:
    """In words: text, number, one of three."""
    schema = _resolved(openapi, schema)
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(openapi, one) for one in schema["anyOf"] if one.get("type") != "null"))
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_kind(openapi, schema.get('items', {}))}"
    plain = {"string": "text", "integer": "whole number", "boolean": "true or false", "object": "object"}
    kind = str(plain.get(schema.get("type", ""), schema.get("type", "anything")))
    return str(schema.get("format", kind)) if kind == "text" else kind


def _example(openapi: Schema, schema: Schema) -> Any:
    if schema.get("examples"):
        return schema["examples"][0]
    required = schema.get("required", ())
    return {name: "…" for name in schema.get("properties", {}) if name in required}


def _curl(url: str, path: str, method: str, body: str, fields: Sequence[ApiField]) -> str:
    asked = "&".join(f"{one.name}={one.example or '…'}" for one in fields if one.place == "query" and one.needed)
    parts = [f"curl '{url}{path}{'?' + asked if asked else ''}'", '-H "Authorization: Bearer $MNEMON_TOKEN"']
    if method != "get":
        parts.insert(1, f"-X {method.upper()}")
    if body:
        written = json.dumps(json.loads(body), ensure_ascii=False).replace("'", "'\\''")
        parts += ["-H 'Content-Type: application/json'", f"-d '{written}'"]
    return " \\\n  ".join(parts)
