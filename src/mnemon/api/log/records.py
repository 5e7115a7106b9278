"""What is in the log, over REST: events, their types, periods, partitions, entities and lenses."""

from typing import Any

from fastapi import APIRouter, Response

from mnemon.api.bind import route
from mnemon.log_operations import entities, event_types, lenses, partitions, periods
from mnemon.log_operations import events as operations
from mnemon.log_operations.event_outputs import AppendedEvents

events = APIRouter(tags=["events"])
types = APIRouter(tags=["event types"])
of_periods = APIRouter(tags=["periods"])
of_partitions = APIRouter(tags=["partitions"])
of_entities = APIRouter(tags=["entities"])
of_lenses = APIRouter(tags=["lenses"])
KEY = {"idempotency_key": "Idempotency-Key"}
APPENDED: dict[int | str, dict[str, Any]] = {
    201: {"model": AppendedEvents, "description": "They are recorded"},
    200: {"model": AppendedEvents, "description": "All of them were there already"},
}


def _appended(answer: AppendedEvents) -> Response:
    status = 200 if all(one.duplicate for one in answer.events) else 201
    return Response(answer.model_dump_json(), status, media_type="application/json")


route(
    events, "POST", "/events", operations.append,
    status=201, in_header=KEY, present=_appended, answers=APPENDED,
)  # fmt: skip
route(events, "GET", "/events", operations.read)
route(events, "GET", "/events/process/{correlation_id}", operations.process)
route(events, "GET", "/events/{event_id}", operations.get)
route(events, "GET", "/events/{event_id}/lineage", operations.lineage)
route(events, "GET", "/events/{event_id}/descendants", operations.descendants)

route(types, "POST", "/event-types", event_types.register, status=201)
route(types, "GET", "/event-types", event_types.listed)
route(types, "GET", "/event-types/{type_name}", event_types.get)

route(of_periods, "GET", "/periods", periods.listed)
route(of_periods, "POST", "/periods", periods.define, status=201)
route(of_periods, "PATCH", "/periods/{name}", periods.change)

route(of_partitions, "GET", "/partitions", partitions.listed)
route(of_partitions, "GET", "/entity-version", entities.version)
route(of_entities, "GET", "/entities/{entity_type}/{entity_id:path}/state", entities.state)

route(of_lenses, "GET", "/lenses", lenses.listed)
route(of_lenses, "POST", "/lenses/{name}/rebuild", lenses.rebuild, in_query=True)
route(of_lenses, "POST", "/lenses/{name}/verify", lenses.verify)
