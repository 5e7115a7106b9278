"""How a page is made: who sees it, the template, and what is shown where something is refused."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date, datetime
from functools import wraps
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import psycopg
from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from mnemon import __version__
from mnemon.api.access import mnemon_of, principal_of
from mnemon.api.failures import unusable_value
from mnemon.app import Mnemon
from mnemon.documents.access import Reader
from mnemon.errors import InvalidRequest, MnemonError, NotAuthenticated
from mnemon.identity.roles import Action, Principal, Role, authorise
from mnemon.identity.tenants import Tenant, own_tenant
from mnemon.identity.users import User, user_by_id
from mnemon.work.jobs import list_workers
from mnemon.work.kinds import JobKind

Handler = Callable[..., Awaitable[Response]]

templates = Environment(
    loader=PackageLoader("mnemon.web"),
    autoescape=select_autoescape(),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True)
class Visitor:
    """Who looks at a page."""

    principal: Principal
    user: User
    tenant: Tenant
    # False where the server lets everybody in: then there is nothing to log out of.
    logged_in: bool

    @property
    def tenant_id(self) -> UUID:
        return self.principal.tenant_id

    @property
    def reader(self) -> Reader:
        return Reader.of(self.principal.actor)

    @property
    def is_admin(self) -> bool:
        return self.principal.role == Role.ADMIN


async def visit(request: Request, action: Action) -> Visitor:
    """The visitor, if they may do this."""
    mnemon = mnemon_of(request)
    principal = await principal_of(request)
    authorise(principal, action)
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        user = await user_by_id(tx, principal.user_id)
        tenant = await own_tenant(tx, principal.tenant_id)
    visitor = Visitor(principal, user, tenant, mnemon.settings.auth_enabled)
    request.state.visitor = visitor
    return visitor


async def has_worker(mnemon: Mnemon, kind: JobKind[Any]) -> bool:
    """Whether what waits for a worker of this kind will be done."""
    async with mnemon.database.session() as session:
        return any(one.alive and kind.name in one.kinds for one in await list_workers(session))


def as_page(handler: Handler) -> Handler:
    """A visitor who is not known is led to the login; what is refused is said on a page."""

    @wraps(handler)
    async def shown(**values: Any) -> Response:
        try:
            return await handler(**values)
        except NotAuthenticated:
            return RedirectResponse("/login", 303)
        except MnemonError as refusal:
            return _refused(values["request"], refusal)
        except psycopg.DataError as failure:
            return _refused(values["request"], unusable_value(failure))

    return shown


def _refused(request: Request, refusal: MnemonError) -> Response:
    visitor = getattr(request.state, "visitor", None)
    return render("problem.html", status_code=refusal.status, here="", visitor=visitor, message=refusal.message)


def render(name: str, *, status_code: int = 200, **values: object) -> Response:
    text = templates.get_template(name).render(version=__version__, **values)
    return HTMLResponse(text, status_code, {"Cache-Control": "no-store"})


def id_of(text: str) -> UUID:
    """An id in an address, where anything may stand."""
    try:
        return UUID(text)
    except ValueError:
        raise InvalidRequest(f"{text[:100]!r} is not an id.") from None


def query_of(**values: object) -> str:
    """An address' query, without what is empty."""
    return "?" + urlencode({name: value for name, value in values.items() if value not in (None, "")})


def _day(moment: date | str | None) -> str:
    """Of a moment, a day, or how either is written."""
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    return f"{moment:%-d %B %Y}" if moment else ""


def _moment(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else ""


def _size(count: int | None) -> str:
    if count is None:
        return ""
    for unit, least in (("MB", 1 << 20), ("KB", 1 << 10)):
        if count >= least:
            return f"{count / least:.1f} {unit}"
    return f"{count} bytes"


def _seconds(milliseconds: int | None) -> str:
    return "" if milliseconds is None else f"{milliseconds / 1000:.1f} s"


templates.filters |= {"day": _day, "moment": _moment, "size": _size, "seconds": _seconds}
templates.globals["query_of"] = query_of
