"""The list of all routes, for the documentation and the tests that keep it true."""

from collections.abc import Iterator
from dataclasses import dataclass

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts

from mnemon.api.access import declared_action
from mnemon.api.server import add_routes
from mnemon.identity.roles import Action
from mnemon.operations import Bound


@dataclass(frozen=True)
class Route:
    """One method of one path, and who may call it. No action means that it is open to all."""

    method: str
    path: str
    action: Action | None
    summary: str
    in_schema: bool
    bound: Bound | None


def routes() -> Iterator[Route]:
    api = FastAPI()
    add_routes(api)
    for context in iter_route_contexts(api.routes):
        route = context.original_route
        if isinstance(route, APIRoute) and context.path:
            actions = [declared_action(part.call) for part in _parts(route.dependant)]
            action = next((one for one in actions if one is not None), None)
            for method in sorted(route.methods or ()):
                yield Route(
                    method, context.path, action, route.summary or "", bool(context.include_in_schema),
                    getattr(route.endpoint, "bound", None),
                )  # fmt: skip


def _parts(dependant: Dependant) -> Iterator[Dependant]:
    """What a route depends on, and what that depends on in turn."""
    for part in dependant.dependencies:
        yield part
        yield from _parts(part)
