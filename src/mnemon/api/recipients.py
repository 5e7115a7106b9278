"""Webhooks and digests over REST: who is told of what the log says."""

from fastapi import APIRouter

from mnemon.api.bind import route
from mnemon.reports.delivery import digest_operations, operations

router = APIRouter(tags=["webhooks"])

route(router, "GET", "/webhooks", operations.webhooks)
route(router, "POST", "/webhooks", operations.add_webhook, status=201)
route(router, "DELETE", "/webhooks/{webhook}", operations.remove_webhook)
route(router, "POST", "/webhooks/{webhook}/test", operations.test_webhook)
route(router, "GET", "/webhooks/{webhook}/deliveries", operations.deliveries)
route(router, "POST", "/webhooks/{webhook}/replay", operations.replay_webhook, status=202)
route(router, "GET", "/digests", digest_operations.digests)
route(router, "POST", "/digests", digest_operations.add_digest, status=201)
route(router, "DELETE", "/digests/{address}", digest_operations.remove_digest)
route(router, "POST", "/digests/{address}/test", digest_operations.test_digest)
route(router, "POST", "/digests/{address}/replay", digest_operations.replay_digest, status=202)
