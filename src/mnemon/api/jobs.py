"""Jobs of the caller's tenant over REST: see them, and as an administrator retry and cancel them."""

from fastapi import APIRouter

from mnemon.api.bind import route
from mnemon.work import operations

router = APIRouter(tags=["jobs"])

route(router, "GET", "/jobs", operations.list_jobs)
route(router, "GET", "/jobs/stats", operations.stats)
route(router, "GET", "/jobs/{job_id}", operations.get)
route(router, "POST", "/jobs/{job_id}/retry", operations.retry)
route(router, "POST", "/jobs/{job_id}/cancel", operations.cancel)
