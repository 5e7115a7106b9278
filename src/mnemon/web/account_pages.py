"""One's own page: who one is, the password, access tokens, and all that is held about one."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from mnemon.api.access import MnemonPart, address_of
from mnemon.app import Mnemon
from mnemon.errors import MnemonError, NotAuthenticated
from mnemon.identity.operations import account, tokens
from mnemon.identity.passwords import SHORTEST
from mnemon.identity.roles import CredentialScope
from mnemon.identity.tokens import NewAccessToken
from mnemon.log_operations.person_file import person_file
from mnemon.operations import Caller, Differs, read_input
from mnemon.web.forms import binds
from mnemon.web.login_pages import with_session
from mnemon.web.rendering import Visitor, as_page, render, visit

router = APIRouter(include_in_schema=False)
OWN = {"user": Differs("On the page everyone makes tokens for themselves alone.")}
OWN_LIST = {"everyone": Differs("The page of users shows everyone's tokens.")}
OWN_FILE = {
    "subject_id": Differs("On this page everyone gets their own."),
    "names": Differs("The account's name is looked for anyway."),
}


@router.get("/account")
@as_page
@binds(account.me)
async def account_page(request: Request, mnemon: MnemonPart, done: str = "") -> Response:
    return await _shown(mnemon, await visit(request, account.me.action), done=done)


@router.get("/account/tokens")
@as_page
@binds(tokens.list_tokens, OWN_LIST)
async def tokens_page(request: Request, mnemon: MnemonPart) -> Response:
    """The same page; a link to the tokens stays valid after one was made."""
    return await _shown(mnemon, await visit(request, tokens.list_tokens.action))


@router.post("/account/password")
@as_page
@binds(account.set_password)
async def set_password(
    request: Request,
    mnemon: MnemonPart,
    old_password: Annotated[str, Form()] = "",
    new_password: Annotated[str, Form()] = "",
    again: Annotated[str, Form()] = "",
) -> Response:
    visitor = await visit(request, account.set_password.action)
    if new_password != again:
        return await _shown(mnemon, visitor, problem="The two new passwords differ: write the same twice.")
    given = {"old_password": old_password or None, "new_password": new_password}
    try:
        asked = read_input(account.set_password, given)
        await account.set_password(mnemon, Caller.of(visitor.principal), asked)
    except NotAuthenticated as refusal:
        return await _shown(mnemon, visitor, problem=refusal.message, status=403)
    except MnemonError as refusal:
        return await _shown(mnemon, visitor, problem=refusal.message, status=refusal.status)
    # Every session has ended, this one too: whoever knows the password is let in again at once.
    begin = {"email": visitor.user.email, "password": new_password, "tenant": visitor.tenant.slug}
    caller = Caller.unknown(address_of(request))
    session = await account.log_in(mnemon, caller, read_input(account.log_in, begin))
    return with_session(RedirectResponse("/account?done=password", 303), mnemon, session)


@router.post("/account/tokens")
@as_page
@binds(tokens.add_token, OWN)
async def add_token(
    request: Request,
    mnemon: MnemonPart,
    name: Annotated[str, Form()] = "",
    scope: Annotated[str, Form()] = "read",
    days: Annotated[str, Form()] = "",
) -> Response:
    visitor = await visit(request, tokens.add_token.action)
    try:
        asked = read_input(tokens.add_token, {"name": name.strip(), "scope": scope, "days": days.strip() or None})
        made = await tokens.add_token(mnemon, Caller.of(visitor.principal), asked)
    except MnemonError as refusal:
        return await _shown(mnemon, visitor, problem=refusal.message, status=refusal.status)
    return await _shown(mnemon, visitor, made=made)


@router.post("/account/tokens/{token_id}/revoke")
@as_page
@binds(tokens.revoke_token)
async def revoke_token(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, tokens.revoke_token.action)
    asked = read_input(tokens.revoke_token, request.path_params)
    await tokens.revoke_token(mnemon, Caller.of(visitor.principal), asked)
    return RedirectResponse("/account?done=revoked#tokens", 303)


@router.get("/account/file")
@as_page
@binds(person_file, OWN_FILE)
async def own_file(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, person_file.action)
    held = await person_file(mnemon, Caller.of(visitor.principal), read_input(person_file, {}))
    headers = {"Content-Disposition": 'attachment; filename="what-mnemon-holds-about-me.json"'}
    return Response(held.model_dump_json(indent=2), media_type="application/json", headers=headers)


async def _shown(
    mnemon: Mnemon, visitor: Visitor, *, done: str = "", problem: str = "", made: NewAccessToken | None = None,
    status: int | None = None,
) -> Response:  # fmt: skip
    listed = await tokens.list_tokens(mnemon, Caller.of(visitor.principal), tokens.TokensAsked())
    return render(
        "account.html", status_code=status or (422 if problem else 200), here="account", visitor=visitor,
        tokens=[one for one in reversed(listed.tokens) if one.revoked_at is None], problem=problem, made=made,
        done=done, scopes=list(CredentialScope), shortest=SHORTEST,
    )  # fmt: skip
