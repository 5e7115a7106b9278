"""Sources over REST: the folders and buckets whose files become documents, and the looks at them."""

from fastapi import APIRouter

from mnemon.api.bind import route
from mnemon.documents.sources import operations

router = APIRouter(tags=["sources"])

route(router, "GET", "/sources", operations.list_sources)
route(router, "POST", "/sources", operations.add, status=201)
route(router, "GET", "/sources/{source}", operations.get_source)
route(router, "PATCH", "/sources/{source}", operations.change)
route(router, "DELETE", "/sources/{source}", operations.remove)
route(router, "POST", "/sources/{source}/sync", operations.sync_now, status=202)
route(router, "GET", "/sources/{source}/syncs", operations.syncs)
route(router, "GET", "/sources/{source}/objects", operations.objects)
