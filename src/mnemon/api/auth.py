"""Logging in, and one's own account."""

from fastapi import APIRouter

from mnemon.api.bind import route
from mnemon.identity.operations import account

router = APIRouter(tags=["account"])

route(router, "POST", "/auth/login", account.log_in)
route(router, "POST", "/auth/link", account.log_in_by_link)
route(router, "GET", "/me", account.me)
route(router, "POST", "/me/password", account.set_password, status=204)
