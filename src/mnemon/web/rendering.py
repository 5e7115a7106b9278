"""How a page is made: who sees it, the template, and what is shown where something is refused."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import wraps
from hashlib import sha256
from hmac import compare_digest
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

import psycopg
from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, Undefined, select_autoescape
from markupsafe import Markup, escape

from mnemon import __version__
from mnemon.api.access import SAFE_METHODS, SESSION_COOKIE, mnemon_of, principal_of
from mnemon.api.failures import unusable_value
from mnemon.app import Mnemon
from mnemon.ask.frames import is_told
from mnemon.documents.access import Reader
from mnemon.errors import InvalidRequest, MnemonError, NotAllowed, NotAuthenticated
from mnemon.identity.roles import Action, Principal, Role, authorise, user_actor_id
from mnemon.identity.tenants import Tenant, own_tenant
from mnemon.identity.tokens import names_of_tokens
from mnemon.identity.users import User, names_of_users, user_by_id
from mnemon.models.redact import without_login
from mnemon.web.refilling import refilled
from mnemon.work.jobs import list_workers
from mnemon.work.kinds import JobKind

Handler = Callable[..., Awaitable[Response]]
FORM = re.compile(r'<form\b[^>]*\bmethod="post"[^>]*>')
FORM_FIELD = "form_token"
# As browsers write them in English.
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sept", "Oct", "Nov", "Dec")
WRITTEN_FORM = "application/x-www-form-urlencoded"
# Every page reads the names of so many people; where there are more, some are shown by their ids.
MOST_NAMES = 200
# The addresses of all pages, for the links at the head of each.
KNOWN_PAGES: set[str] = set()
# By status: what the page says above the reason, and what one can do.
PROBLEMS = {
    403: ("You may not do that", "Your role does not allow it. Someone who runs this server can."),
    404: ("There is nothing here", "The address may be mistyped, or what was here is gone."),
    409: ("Something changed meanwhile", "Open the page again to see how things stand now."),
    422: ("That is not possible", "Go back and change what was asked."),
    429: ("Too much at once", "Wait a moment, then try again."),
    500: ("Something went wrong", "It is not your doing. Try again; if it stays, whoever runs this server can help."),
}

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
    # Goes into every form that changes something; empty where no cookie lets the visitor in.
    form_token: str = ""
    # How the people of the tenant are called, by their names in the log.
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def tenant_id(self) -> UUID:
        return self.principal.tenant_id

    @property
    def reader(self) -> Reader:
        return Reader.of(self.principal.actor)

    @property
    def is_admin(self) -> bool:
        return self.principal.role == Role.ADMIN


async def visit(request: Request, action: Action, *, reads_form: bool = True) -> Visitor:
    """The visitor, if they may do this. Whoever reads the form themselves looks at its token too."""
    mnemon = mnemon_of(request)
    principal = await principal_of(request)
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        user = await user_by_id(tx, principal.user_id)
        tenant = await own_tenant(tx, principal.tenant_id)
        called = await names_of_users(tx, MOST_NAMES)
        # How a person calls their own tokens, and to an administrator everybody's.
        tokens = await names_of_tokens(tx, None if principal.role == Role.ADMIN else principal.user_id, MOST_NAMES)
    names = {user_actor_id(one): name for one, name in called.items()}
    names |= {f"token:{one}": f"{name} (token)" for one, name in tokens.items()}
    visitor = Visitor(principal, user, tenant, mnemon.settings.auth_enabled, form_token_of(request), names)
    # Whoever is refused still sees whose page it is, and the way elsewhere.
    request.state.visitor = visitor
    authorise(principal, action)
    if reads_form:
        await refuse_foreign_forms(request)
    return visitor


def form_token_of(request: Request) -> str:
    """Only who has the session's cookie knows it, and no script and no other site has that."""
    session = request.cookies.get(SESSION_COOKIE, "")
    return sha256(f"mnemon form {session}".encode()).hexdigest()[:40] if session else ""


async def refuse_foreign_forms(request: Request) -> None:
    """Beside the check of the origin: a form must have been made for this session."""
    if request.method not in SAFE_METHODS and "authorization" not in request.headers:
        refuse_token(request, str((await request.form()).get(FORM_FIELD, "")))


def refuse_token(request: Request, given: str) -> None:
    token = form_token_of(request)
    if token and "authorization" not in request.headers and not compare_digest(given.encode(), token.encode()):
        raise NotAllowed("This form was not made for your present session: open the page again and send it anew.")


async def has_worker(mnemon: Mnemon, kind: JobKind[Any]) -> bool:
    """Whether what waits for a worker of this kind will be done."""
    async with mnemon.database.session() as session:
        return any(one.alive and kind.name in one.kinds for one in await list_workers(session))


def as_page(handler: Handler) -> Handler:
    """A visitor who is not known is led to the login; what is refused is said on a page."""

    @wraps(handler)
    async def shown(**values: Any) -> Response:
        return await _with_what_was_written(values["request"], await answered(**values))

    async def answered(**values: Any) -> Response:
        try:
            return await handler(**values)
        except NotAuthenticated:
            return RedirectResponse(_login_before(values["request"]), 303)
        except MnemonError as refusal:
            return _refused(values["request"], refusal)
        except psycopg.DataError as failure:
            return _refused(values["request"], unusable_value(failure))

    return shown


async def _with_what_was_written(request: Request, answer: Response) -> Response:
    """Nobody writes a thing twice because it was refused."""
    sent = request.method == "POST" and request.headers.get("content-type", "").startswith(WRITTEN_FORM)
    if not sent or not isinstance(answer, HTMLResponse) or answer.status_code not in range(400, 500):
        return answer
    page = refilled(bytes(answer.body).decode(), request.url.path, await request.form())
    return HTMLResponse(page, answer.status_code, {"Cache-Control": "no-store"})


def _login_before(request: Request) -> str:
    """The login, which leads back to where the visitor wanted to go."""
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return "/login" if request.method != "GET" or wanted == "/" else f"/login?next={quote(wanted, safe='/')}"


def _refused(request: Request, refusal: MnemonError) -> Response:
    return problem_page(getattr(request.state, "visitor", None), refusal.message, refusal.status)


def problem_page(visitor: Visitor | None, message: str, status: int) -> Response:
    title, advice = PROBLEMS.get(status, PROBLEMS[422] if status < 500 else PROBLEMS[500])
    return render(
        "problem.html", status_code=status, here="", visitor=visitor, message=message, title=title, advice=advice
    )


def render(name: str, *, status_code: int = 200, visitor: Visitor | None, **values: object) -> Response:
    return HTMLResponse(written(name, visitor=visitor, **values), status_code, {"Cache-Control": "no-store"})


def written(name: str, *, visitor: Visitor | None, **values: object) -> str:
    """A page, or a part of one."""
    text = templates.get_template(name).render(version=__version__, visitor=visitor, **values)
    if visitor and visitor.form_token:
        # Put in here, so that no form can be without it.
        field = f'<input type="hidden" name="{FORM_FIELD}" value="{visitor.form_token}">'
        text = FORM.sub(lambda found: found[0] + field, text)
    return text


def id_of(text: str) -> UUID:
    """An id in an address, where anything may stand."""
    try:
        return UUID(text)
    except ValueError:
        raise InvalidRequest(f"{text[:100]!r} is not an id.") from None


def query_of(**values: object) -> str:
    """An address' query, without what is empty or, in a template, was not said."""
    said = {name: one for name, one in values.items() if one not in (None, "") and not isinstance(one, Undefined)}
    return "?" + urlencode(said) if said else ""


def _day(moment: date | str | None) -> str:
    """Of a moment, a day, or how either is written."""
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    return f"{moment:%-d %B %Y}" if moment else ""


def _moment(moment: datetime | str | None) -> str:
    """In UTC; the page's script shows it in the reader's zone, in letters as wide, so that nothing moves."""
    if not moment:
        return ""
    exact = (datetime.fromisoformat(moment) if isinstance(moment, str) else moment).astimezone(UTC)
    written = exact.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    shown = f"{exact.day} {MONTHS[exact.month - 1]} {exact:%Y, %H:%M}"
    pattern = Markup('<time datetime="%s" title="%s UTC" data-local>%s<span class="zone"> UTC</span></time>')
    return pattern % (written, f"{exact:%Y-%m-%d %H:%M:%S}", shown)


def _plain_moment(moment: str) -> str:
    """Where no element may stand, as in the words of a picture."""
    return f"{datetime.fromisoformat(moment).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _marked_words(text: str, words: list[str]) -> str:
    """The words of a search, marked; each also where it goes on, as `book` in `bookings`."""
    wanted = sorted({word for word in words if len(word) > 1}, key=len, reverse=True)
    if not wanted:
        return escape(text)
    found = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, wanted))})\w*", re.IGNORECASE)
    shown, end = Markup(), 0
    for match in found.finditer(text):
        shown += escape(text[end : match.start()]) + Markup("<mark>%s</mark>") % match[0]
        end = match.end()
    return shown + escape(text[end:])


def _size(count: int | None) -> str:
    if count is None:
        return ""
    for unit, least in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if count >= least:
            return f"{count / least:.1f}".removesuffix(".0") + f" {unit}"
    return f"{count} bytes"


def _seconds(milliseconds: int | None) -> str:
    return "" if milliseconds is None else f"{milliseconds / 1000:.1f} s"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _who(actor: str, visitor: Visitor) -> str:
    """An actor as people read it: oneself, a name, or the kind and the beginning of an id that nobody can say."""
    if actor == visitor.principal.actor.id:
        return "you"
    if visitor.names.get(actor):
        return visitor.names[actor]
    kind, colon, name = actor.partition(":")
    return f"{kind} {name[:8]}" if colon and len(name) == 36 else actor


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _short_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


templates.filters |= {
    "day": _day, "moment": _moment, "size": _size, "seconds": _seconds, "marked": _marked_words, "hash": _short_hash,
    "one_line": _one_line, "pretty": _pretty, "who": _who, "without_login": without_login,
    "plain_moment": _plain_moment,
}  # fmt: skip
templates.globals |= {"query_of": query_of, "known_pages": KNOWN_PAGES, "is_told": is_told}
