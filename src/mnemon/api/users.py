"""People over REST: logging in and one's own account, users for administrators, access tokens."""

from uuid import UUID

from fastapi import APIRouter
from pydantic import RootModel

from mnemon.api.bind import route
from mnemon.identity.operations import account, tokens, users
from mnemon.identity.tokens import AccessToken
from mnemon.operations import Differs

account_router = APIRouter(tags=["account"])
router = APIRouter(tags=["users"])
token_router = APIRouter(tags=["tokens"])
USER = "/users/{user_id}"
BY_ID = {"user": Differs("A path names one person by one id.", name="user_id", takes=UUID)}
OWN = {"user": Differs("Over REST everyone makes tokens for themselves alone.")}


class Tokens(RootModel[list[AccessToken]]):
    """Tokens in the order in which they were made."""


def _listed(found: tokens.TokenList) -> Tokens:
    return Tokens(found.tokens)


route(account_router, "POST", "/auth/login", account.log_in)
route(account_router, "POST", "/auth/link", account.log_in_by_link)
route(account_router, "POST", "/auth/logout", account.log_out, status=204)
route(account_router, "GET", "/me", account.me)
route(account_router, "POST", "/me/password", account.set_password, status=204)
route(router, "GET", "/users", users.list_users)
route(router, "POST", "/users", users.add_user, status=201)
route(router, "GET", USER, users.get_user, differences=BY_ID)
route(router, "PATCH", USER, users.change_user, differences=BY_ID)
route(router, "POST", f"{USER}/login-link", users.link_user, status=201, differences=BY_ID)
route(router, "GET", "/identity-changes", users.list_changes)
route(token_router, "GET", "/tokens", tokens.list_tokens, present=_listed)
route(token_router, "POST", "/tokens", tokens.add_token, status=201, differences=OWN)
route(token_router, "DELETE", "/tokens/{token_id}", tokens.revoke_token)
