"""Approvals: what one administrator asks for and another gives."""

from fastapi import APIRouter

from mnemon.api.bind import route
from mnemon.identity.operations import approvals

router = APIRouter(tags=["approvals"])
ONE = "/approvals/{approval_id}"

route(router, "POST", "/approvals", approvals.request, status=201)
route(router, "GET", "/approvals", approvals.listed)
route(router, "GET", ONE, approvals.get)
route(router, "POST", f"{ONE}/approve", approvals.approve)
route(router, "POST", f"{ONE}/decline", approvals.decline)
