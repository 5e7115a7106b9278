"""`mnemon user`: add people, change them, let them in."""

import sys
from typing import Annotated, Any

import typer

from mnemon.cli.context import OPERATOR, in_tenant, run_async
from mnemon.cli.output import Json, TenantOption, say, show, table
from mnemon.errors import InvalidRequest
from mnemon.identity.login import add_login_link
from mnemon.identity.roles import Role
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.identity.users import User, add_user, change_user, page_of_users, user_by_email

app = typer.Typer(help="People who may log in.", no_args_is_help=True)

Email = Annotated[str, typer.Argument(help="E-mail address.", metavar="EMAIL")]
PasswordFlag = Annotated[
    bool, typer.Option("--password", help="Set a password: asked for on a terminal, else the first line of the input.")
]
PAGE = 1000


@app.command("list")
def list_(tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """List users."""

    async def work() -> list[User]:
        async with in_tenant(tenant) as (_, transaction):
            users = await page_of_users(transaction.connection, PAGE)
            while users and len(users) % PAGE == 0:
                more = await page_of_users(transaction.connection, PAGE, users[-1].email.lower())
                if not more:
                    break
                users += more
            return users

    users = run_async(work())
    rows = [
        (one.email, one.name, one.role, one.created_at, "disabled" if one.disabled_at else "active") for one in users
    ]
    show(users, as_json, lambda: table(["E-mail", "Name", "Role", "Since", "State"], rows, "No users."))


@app.command()
def add(
    email: Email,
    role: Annotated[Role, typer.Option(help="What the user may do.")] = Role.USER,
    name: Annotated[str | None, typer.Option(help="Name that people see.")] = None,
    password: PasswordFlag = False,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Add a user, who then logs in by password or by `mnemon user link`.

    Example: mnemon user add ana@example.org --role admin --password
    """
    chosen = _read_password() if password else None

    async def work() -> User:
        async with in_tenant(tenant) as (_, transaction):
            return await add_user(transaction, OPERATOR, email, role, name=name, password=chosen)

    user = run_async(work())
    hint = "" if password else f" A login link: mnemon user link {user.email}"
    show(user, as_json, lambda: say(f"Added {user.email} as {user.role}.{hint}"))


@app.command()
def role(
    email: Email, role: Annotated[Role, typer.Argument()], tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False
) -> None:
    """Make a user an administrator or an ordinary user; their sessions end.

    Example: mnemon user role ana@example.org admin
    """
    user = _change(tenant, email, role=role)
    show(user, as_json, lambda: say(f"{user.email} is now {user.role}."))


@app.command()
def password(email: Email, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Set a user's password; their sessions end."""
    user = _change(tenant, email, password=_read_password())
    show(user, as_json, lambda: say(f"{user.email} has a new password."))


@app.command()
def disable(email: Email, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Lock a user out: sessions and tokens stop working."""
    user = _change(tenant, email, disabled=True)
    show(user, as_json, lambda: say(f"{user.email} is disabled."))


@app.command()
def enable(email: Email, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Let a disabled user in again."""
    user = _change(tenant, email, disabled=False)
    show(user, as_json, lambda: say(f"{user.email} is enabled."))


@app.command()
def link(email: Email, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Print a link that lets the user in once, within a day."""

    async def work() -> str:
        async with in_tenant(tenant) as (mnemon, transaction):
            user = await user_by_email(transaction.connection, email)
            return mnemon.login_url(await add_login_link(transaction, OPERATOR, user.user_id))

    url = run_async(work())
    show({"url": url}, as_json, lambda: say(url))


def _change(tenant: str, email: str, **change: Any) -> User:
    async def work() -> User:
        async with in_tenant(tenant) as (_, transaction):
            user = await user_by_email(transaction.connection, email)
            return await change_user(transaction, OPERATOR, user.user_id, **change)

    return run_async(work())


def _read_password() -> str:
    """Never from an argument: those stand in the shell's history and in the process list."""
    if sys.stdin.isatty():
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise InvalidRequest("No password came on the standard input: give it as its first line.")
    return line
