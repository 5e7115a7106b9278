"""`mnemon user`: add people, change them, let them in."""

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from mnemon.cli.binding.bind import call, command, tenant_named
from mnemon.cli.context import run_async
from mnemon.cli.output import complaints, say, table
from mnemon.errors import InvalidRequest
from mnemon.identity.operations import users
from mnemon.identity.roles import Role
from mnemon.identity.users import User
from mnemon.operations import Differences, Differs
from mnemon.serving import served_address
from mnemon.settings import load_settings

app = typer.Typer(help="People who may log in.", no_args_is_help=True)

PASSWORD: dict[str, Any] = {
    "password": Annotated[
        bool,
        typer.Option("--password", help="Set a password: asked for on a terminal, else the first line of the input."),
    ]
}
NEVER_WRITTEN = Differs("An argument would stand in the shell's history and in the process list.")
ALL_AT_ONCE = {"limit": Differs("A person reads the whole list.", default=1000)}


def only(**why: str) -> Differences:
    """A command that changes one thing says by its name which."""
    names = ("name", "role", "disabled", "password")
    return {name: Differs(why.get(name, "Another command changes it.")) for name in names}


def _whose_link(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    """Where there is one person, nobody else can be meant."""
    if values["user"] is not None:
        return values
    page: users.UserPage = run_async(call(users.list_users, tenant, users.PeoplePageAsked(limit=4)))
    known = [one.email for one in page.items if one.disabled_at is None]
    if len(known) != 1:
        named = f", such as mnemon user link {known[0]}" if known else ""
        raise InvalidRequest(f"Say whose link it is{named}; `mnemon user list` shows everybody.")
    return values | {"user": known[0]}


def print_users(page: users.UserPage) -> None:
    rows = [
        (one.email, one.name, one.role, one.created_at, "disabled" if one.disabled_at else "active")
        for one in page.items
    ]
    table(["E-mail", "Name", "Role", "Since", "State"], rows, "No users.")
    if page.next_cursor:
        say(f"More: --cursor {page.next_cursor}", "dim")


def print_link(made: users.LinkOut) -> None:
    say(made.url)
    settings = load_settings()
    if not settings.server and not settings.public_url and served_address(settings.home) is None:
        complaints.print("No server of this home is running: the link opens once `mnemon serve` listens there.")


def print_added(user: User) -> None:
    hint = "" if user.has_password else f" A login link: mnemon user link {user.email}{tenant_named()}"
    say(f"Added {user.email} as {user.role}.{hint}")


def with_password(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    """Never from an argument."""
    return values | {"password": _read_password() if values["password"] else None}


def fixed(**change: Any) -> Callable[[dict[str, Any], str], dict[str, Any]]:
    return lambda values, tenant: values | change


def _read_password() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise InvalidRequest("No password came on the standard input: give it as its first line.")
    return line


def _new_password(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    return values | {"password": _read_password()}


command(
    app, "list", users.list_users, print_users, differences=ALL_AT_ONCE, written=lambda page: page["items"],
    example="mnemon user list --json",
)  # fmt: skip
command(
    app, "add", users.add_user, print_added, arguments=["email"], differences={"password": NEVER_WRITTEN},
    beside=PASSWORD, prepare=with_password, example="mnemon user add ana@example.org --role admin --password",
)  # fmt: skip
command(
    app, "role", users.change_user, lambda user: say(f"{user.email} is now {user.role}."),
    arguments=["user", "role"], example="mnemon user role ana@example.org admin",
    differences={**only(), "role": Differs("The command sets it.", default=..., takes=Role)},
)  # fmt: skip
command(
    app, "password", users.change_user, lambda user: say(f"{user.email} has a new password."),
    arguments=["user"], differences=only(password=NEVER_WRITTEN.why), prepare=_new_password,
    example="mnemon user password ana@example.org",
)  # fmt: skip
command(
    app, "disable", users.change_user, lambda user: say(f"{user.email} is disabled."), arguments=["user"],
    differences=only(disabled="The command's name says it."), prepare=fixed(disabled=True),
    example="mnemon user disable ana@example.org",
)  # fmt: skip
command(
    app, "enable", users.change_user, lambda user: say(f"{user.email} is enabled."), arguments=["user"],
    differences=only(disabled="The command's name says it."), prepare=fixed(disabled=False),
    example="mnemon user enable ana@example.org",
)  # fmt: skip
command(
    app, "link", users.link_user, print_link, arguments=["user"], prepare=_whose_link,
    differences={"user": Differs("Where there is one person, nobody else can be meant.", default=None)},
    example="mnemon user link ana@example.org",
)  # fmt: skip
