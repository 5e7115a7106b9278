"""The commands by name: what each is for, and the module that is loaded once it is called."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer._click.exceptions import MissingParameter, NoSuchOption, UsageError
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from mnemon.cli.binding.one_name import OneNameEach


@dataclass(frozen=True)
class Entry:
    """A command or a group of commands: a module of this package, what it has there, and its first line of help."""

    module: str
    member: str
    help: str


# The help stands here too, so that `mnemon --help` loads none of the modules; a test compares both.
CATALOGUE = {
    "serve": Entry("serve", "serve", "Run the server until Ctrl-C; a second Ctrl-C stops hard."),
    "work": Entry("work", "work", "Run jobs until Ctrl-C; a second Ctrl-C stops hard."),
    "search": Entry(
        "asking.ask",
        "search",
        "Find passages of documents by words and meaning, best first; and what memory says, beside them.",
    ),
    "ask": Entry(
        "asking.ask",
        "ask",
        "Answer a question from the documents, with the quotes that prove each sentence; or refuse and say why.",
    ),
    "receipt": Entry(
        "asking.ask",
        "receipt",
        "An answer of yours as one file that proves itself: JSON, or a page to print with the JSON inside.",
    ),
    "open": Entry(
        "asking.open_source",
        "open_source",
        "Show the source of a number in the last answer or search, with the words marked.",
    ),
    "remember": Entry("memory.thoughts", "remember", "Keep a short text for later: a fact, a preference, a note."),
    "recall": Entry("memory.thoughts", "recall", "Find what was remembered, by words and by meaning, best first."),
    "forget": Entry(
        "memory.thoughts", "forget", "Delete what was remembered: no search and no list shows it any more."
    ),
    "status": Entry("status", "status", "Say whether Mnemon works, where it is, and what it holds."),
    "login": Entry("login", "login", "Log in to a server, so that commands work there with --server or MNEMON_SERVER."),
    "logout": Entry("login", "logout", "Forget the token that `mnemon login` kept for a server."),
    "mcp": Entry("agents.group", "app", "Serve agents over standard input and output."),
    "demo": Entry(
        "demonstration.demo", "demo", "Show what Mnemon does, on an embedded database that is removed afterwards."
    ),
    "add": Entry(
        "adding.add", "add", "Take in files and folders. Where no worker runs, this command reads them itself."
    ),
    "verify": Entry("verify", "verify", "Check everything that could have been changed behind Mnemon's back."),
    "settings": Entry("settings", "settings", "Show every setting with its present value; secrets are never shown."),
    "db": Entry("database", "app", "The database: state, migrations, backup, restore."),
    "home": Entry("home", "app", "The home: keys and checkpoints that gateways share."),
    "models": Entry("models", "app", "Embedding and language models."),
    "tenant": Entry("people.tenant", "app", "Tenants: separate worlds in one database."),
    "user": Entry("people.user", "app", "People who may log in."),
    "token": Entry("people.token", "app", "Access tokens for agents and scripts."),
    "documents": Entry("documents", "app", "Documents: what has been read, in which versions."),
    "sources": Entry("sources", "app", "Sources: folders and buckets whose files become documents."),
    "runs": Entry("runs", "app", "Ingestion runs: what is queued, being read, done and failed."),
    "artifact": Entry("artifact", "app", "Artifacts: texts with an origin, readers and a history."),
    "events": Entry("semantic_events", "app", "Semantic events: decisions, commitments, risks, each with its proof."),
    "mail": Entry("mail.group", "app", "Mailing lists: archives, messages, threads."),
    "webhooks": Entry("recipients", "webhooks", "Webhooks: addresses that are called when something happens."),
    "digests": Entry("recipients", "digests", "Digests: addresses that reports are mailed to."),
    "log": Entry("log.group", "app", "The event log: append, read, follow, prove."),
    "lens": Entry("log.lens", "app", "Lenses: tables derived from the log, made anew from it, compared with it."),
    "memory": Entry("memory.objects", "app", "Memory objects: versioned, branched, replayable."),
    "privacy": Entry("log.privacy", "app", "People in the log: show, erase, redact, prove; and the keys."),
    "jobs": Entry("jobs", "app", "Jobs: what waits, runs and failed, of all tenants."),
    "subscription": Entry("log.subscription", "app", "Subscriptions: who follows the log, and how far they are."),
}


def load(name: str) -> Any:
    """The command or group itself, with all that it imports."""
    entry = CATALOGUE[name]
    member = getattr(import_module(f"mnemon.cli.{entry.module}"), entry.member)
    owner = typer.Typer()
    if isinstance(member, typer.Typer):
        owner.add_typer(member, name=name)
    else:
        owner.command(name, cls=OneNameEach)(member)
    return get_group(owner).commands[name]


class Catalogue(TyperGroup):
    """Lists its commands from the catalogue, and loads the one that is called."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = {name: TyperCommand(name, help=entry.help) for name, entry in CATALOGUE.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Asked only about the command that is called, or whose words a shell completes."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(name) if name in CATALOGUE else command, rest

    def invoke(self, ctx: Any) -> Any:
        """What is missing on the line is told with an example of the command; a name that is not known, with those
        that are."""
        try:
            return super().invoke(ctx)
        except UsageError as refused:
            refused.message = " ".join(part for part in (_plain(refused), _remedy_of(refused)) if part)
            raise


def _others_with(option: str, group: Any, called: str) -> str:
    """Commands beside this one that know the option."""
    known = group.commands if isinstance(group, TyperGroup) and not isinstance(group, Catalogue) else {}
    names = [name for name, one in known.items() if any(option in each.opts for each in one.params)]
    return f"That is an option of: {', '.join(f'{called} {name}' for name in names)}." if names else ""


def _plain(refused: UsageError) -> str:
    """A value that a validator refused, in our words: its own are for programmers."""
    errors = getattr(refused.__cause__, "errors", None)
    if errors is None:
        return refused.message
    from mnemon.problems import plain_problem

    [first, *_] = errors()
    problem = plain_problem(first)
    return problem if repr(first["input"]) in problem else f"{first['input']!r} {problem}"


def _remedy_of(refused: UsageError) -> str:
    command = refused.ctx.command if refused.ctx else None
    if isinstance(refused, MissingParameter):
        _, _, example = ((command and command.help) or "").partition("Example: ")
        return f"Example: {example.strip()}" if example else ""
    if isinstance(refused, NoSuchOption) and refused.ctx and refused.ctx.parent:
        return _others_with(refused.option_name, refused.ctx.parent.command, refused.ctx.parent.command_path)
    if isinstance(command, TyperGroup) and "No such command" in refused.message and "Did you" not in refused.message:
        return f"There are: {', '.join(command.commands)}."
    return ""
