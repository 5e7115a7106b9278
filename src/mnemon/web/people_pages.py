"""The pages for administrators: who is let in, with which tokens, and how the server is set."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.errors import MnemonError
from mnemon.identity.operations import tokens, users
from mnemon.identity.roles import Role
from mnemon.models.redact import without_login
from mnemon.operations import Caller, Differs
from mnemon.settings import Settings, described_settings
from mnemon.web.forms import binds, form_of, perform, submitted
from mnemon.web.rendering import Visitor, as_page, render, visit

router = APIRouter(include_in_schema=False)
ON_A_PAGE, LAST_CHANGES = 50, 30
ONE_PAGE = {"limit": Differs("A page of the web has a fixed length.")}
NO_PASSWORD = {"password": Differs("Nobody tells another their password: a link lets them in, and they set one.")}


@router.get("/users")
@as_page
@binds(users.list_users, ONE_PAGE)
async def users_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, users.list_users.action)
    return await _shown(mnemon, visitor, request.query_params)


@router.post("/users")
@as_page
@binds(users.add_user, NO_PASSWORD)
async def add_user(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, users.add_user.action)
    try:
        asked = await submitted(request, users.add_user, password=None)
        made = await users.add_user(mnemon, Caller.of(visitor.principal), asked)
        link = await users.link_user(mnemon, Caller.of(visitor.principal), users.UserAsked(user=made.email))
    except MnemonError as refusal:
        return await _shown(mnemon, visitor, {}, problem=refusal)
    return await _shown(mnemon, visitor, {}, link=(made.email, link.url))


@router.post("/users/{user}/link")
@as_page
@binds(users.link_user)
async def link_user(request: Request, mnemon: MnemonPart, user: str) -> Response:
    visitor = await visit(request, users.link_user.action)
    link = await users.link_user(mnemon, Caller.of(visitor.principal), await submitted(request, users.link_user))
    return await _shown(mnemon, visitor, {}, link=(request.query_params.get("email", ""), link.url))


@router.post("/users/{user}")
@as_page
@binds(users.change_user, NO_PASSWORD)
async def change_user(request: Request, mnemon: MnemonPart, user: str) -> Response:
    return await perform(request, mnemon, users.change_user, "/users", password=None)


@router.get("/users/changes")
@as_page
@binds(users.list_changes, ONE_PAGE)
async def changes_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, users.list_changes.action)
    form = form_of(users.list_changes, request.query_params, differences=ONE_PAGE)
    listed = await users.list_changes(mnemon, Caller.of(visitor.principal), form.asked(limit=LAST_CHANGES))
    return render("changes.html", here="users", visitor=visitor, listed=listed, form=form)


@router.post("/users/tokens/{token_id}/revoke")
@as_page
async def revoke(request: Request, mnemon: MnemonPart) -> Response:
    await perform(request, mnemon, tokens.revoke_token, "/users")
    return RedirectResponse("/users#tokens", 303)


async def _shown(
    mnemon: Mnemon, visitor: Visitor, given: Any, *, link: tuple[str, str] | None = None,
    problem: MnemonError | None = None,
) -> Response:  # fmt: skip
    caller = Caller.of(visitor.principal)
    form = form_of(users.list_users, given, differences=ONE_PAGE)
    listed = await users.list_users(mnemon, caller, form.asked(limit=ON_A_PAGE))
    known = await tokens.list_tokens(mnemon, caller, tokens.TokensAsked(everyone=True))
    return render(
        "users.html", status_code=problem.status if problem else 200, here="users", visitor=visitor, listed=listed,
        form=form, link=link, problem=problem, roles=list(Role), names={one.user_id: one.email for one in listed.items},
        tokens=[one for one in known.tokens if one.revoked_at is None],
    )  # fmt: skip


def shown_settings(settings: Settings) -> list[dict[str, str]]:
    """Every setting with its value; a secret is never shown, nor a login inside an address."""
    rows = []
    for one in described_settings():
        value = getattr(settings, one.field)
        shown = "not set" if value is None else "set, not shown" if one.secret else without_login(str(value))
        rows.append({"name": one.names[0], "value": shown, "meaning": one.meaning})
    return rows
