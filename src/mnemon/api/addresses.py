"""Which request an operation is, by its name: the client calls a server by this table, without our web framework."""

from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts

from mnemon.api.bind import RoutePlaces
from mnemon.api.server import add_routes


def addresses() -> dict[str, dict[str, Any]]:
    """Of every operation that has a route; the first one, where it has several."""
    api = FastAPI()
    add_routes(api)
    found: dict[str, dict[str, Any]] = {}
    for context in iter_route_contexts(api.routes):
        route = context.original_route
        if not isinstance(route, APIRoute) or not context.path or not context.include_in_schema:
            continue
        places = getattr(route.endpoint, "places", None)
        if not isinstance(places, RoutePlaces):
            continue
        name = route.endpoint.bound.operation.name  # type: ignore[attr-defined]
        entry: dict[str, Any] = {"method": min(route.methods or ()), "path": context.path}
        for place in ("path", "query", "body", "header"):
            fields = dict(getattr(places, place))
            if fields:
                entry[f"in_{place}"] = fields
        if places.presented:
            entry["presented"] = True
        if places.status == 204:
            entry["empty"] = True
        found.setdefault(name, entry)
    return dict(sorted(found.items()))
