"""Subscriptions over REST: declare and look after them, their dead letters, and the delivery of their events."""

from fastapi import APIRouter

from mnemon.api.bind import route
from mnemon.log_operations import dead_letters, delivery, subscriptions
from mnemon.operations import Differs

router = APIRouter(tags=["subscriptions"])
ONE = "/subscriptions/{subscription_id}"
IN_THE_BODY = {"subscription_id": Differs("A body names what it declares by `id`.", name="id")}

route(router, "POST", "/subscriptions", subscriptions.add, status=201, differences=IN_THE_BODY)
route(router, "GET", "/subscriptions", subscriptions.listed)
route(router, "GET", ONE, subscriptions.get)
route(router, "DELETE", ONE, subscriptions.remove, status=204)
route(router, "POST", f"{ONE}/pause", subscriptions.pause)
route(router, "POST", f"{ONE}/resume", subscriptions.resume)
route(router, "POST", f"{ONE}/reset", subscriptions.reset)
route(router, "GET", f"{ONE}/dead-letters", dead_letters.listed)
route(router, "POST", f"{ONE}/dead-letters/replay", dead_letters.replay)
route(router, "POST", f"{ONE}/dead-letters/discard", dead_letters.discard)
route(router, "GET", f"{ONE}/poll", delivery.poll)
route(router, "POST", f"{ONE}/claim", delivery.claim)
route(router, "POST", f"{ONE}/acknowledge", delivery.acknowledge)
route(router, "POST", f"{ONE}/reject", delivery.reject)
