"""`mnemon webhooks` and `mnemon digests`: who is told of what the log says."""

import sys
from typing import Annotated, Any

import typer

from mnemon.cli.binding.bind import command
from mnemon.cli.output import say, table
from mnemon.operations import Differs
from mnemon.reports.delivery import digest_operations, operations, outputs

webhooks = typer.Typer(help="Webhooks: addresses that are called when something happens.", no_args_is_help=True)
digests = typer.Typer(help="Digests: addresses that reports are mailed to.", no_args_is_help=True)
NEVER_WRITTEN = {
    "secret": Differs(
        "One is made and shown. With --own-secret it is asked for on a terminal, else the first line of the input: an "
        "argument would stand in the shell's history."
    )
}
OWN = {
    "own_secret": Annotated[
        bool, typer.Option("--own-secret", help="Ask for the secret, or read it from the input, instead of making one.")
    ]
}


def with_secret(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    """A secret of one's own, never from an argument."""
    if not values.pop("own_secret"):
        return values
    if sys.stdin.isatty():
        return values | {"secret": typer.prompt("Secret", hide_input=True, err=True)}
    return values | {"secret": sys.stdin.readline().strip() or None}


def print_webhooks(found: outputs.WebhookList) -> None:
    rows = [(one.webhook, one.url, ", ".join(one.event_types), one.sent, one.waiting, one.dead) for one in found.items]
    table(
        ["Name", "Address", "Told of", "Sent", "Waiting", "Dead"], rows, "No webhooks. `mnemon webhooks add` adds one."
    )


def print_added(one: outputs.WebhookAdded) -> None:
    say(f"{one.webhook} is told of {', '.join(one.event_types)} from now on.")
    say(f"Deliveries are signed with this secret, which is shown this once: {one.secret}")


def print_deliveries(found: outputs.DeliveryPage) -> None:
    rows = [(one.job_id, one.event_type, one.state, one.attempts, one.next_try_at, one.error) for one in found.items]
    table(["Job", "Event", "State", "Tried", "Next", "Error"], rows, "Nothing was sent there yet.")
    if found.next_cursor:
        say(f"More: --cursor {found.next_cursor}", "dim")


def print_trial(made: outputs.TrialMade) -> None:
    say(f"{made.name} answered {made.status}." if made.status else f"The mail server took a trial for {made.name}.")


def print_replayed(begun: outputs.ReplayBegun) -> None:
    say(
        f"{begun.replayed} to {begun.name} will be made again."
        if begun.replayed
        else f"Nothing to {begun.name} is dead."
    )


def print_removed(gone: outputs.RecipientRemoved) -> None:
    say(f"{gone.name} is told no more.")


def print_digests(found: outputs.DigestList) -> None:
    rows = [(one.address, ", ".join(one.report_kinds), one.sent, one.waiting, one.dead) for one in found.items]
    table(["Address", "Reports", "Sent", "Waiting", "Dead"], rows, "No digests. `mnemon digests add` adds one.")


command(webhooks, "list", operations.webhooks, print_webhooks, example="mnemon webhooks list")
command(
    webhooks, "add", operations.add_webhook, print_added, arguments=["url"], differences=NEVER_WRITTEN,
    beside=OWN, prepare=with_secret,
    example="mnemon webhooks add https://chat.example.org/hooks/7 --name chat --event-types 'report.*'",
)  # fmt: skip
command(
    webhooks, "remove", operations.remove_webhook, print_removed, arguments=["webhook"],
    question="Call {webhook} no more?", example="mnemon webhooks remove chat",
)  # fmt: skip
command(
    webhooks, "test", operations.test_webhook, print_trial, arguments=["webhook"], example="mnemon webhooks test chat"
)
command(
    webhooks, "deliveries", operations.deliveries, print_deliveries, arguments=["webhook"],
    example="mnemon webhooks deliveries chat --dead",
)  # fmt: skip
command(
    webhooks, "replay", operations.replay_webhook, print_replayed, arguments=["webhook"],
    example="mnemon webhooks replay chat",
)  # fmt: skip
command(digests, "list", digest_operations.digests, print_digests, example="mnemon digests list")
command(
    digests, "add", digest_operations.add_digest,
    lambda one: say(f"{one.address} gets reports from now on: {', '.join(one.report_kinds)}."), arguments=["address"],
    example="mnemon digests add anna@example.org --report-kinds weekly",
)  # fmt: skip
command(
    digests, "remove", digest_operations.remove_digest, print_removed, arguments=["address"],
    question="Write to {address} no more?", example="mnemon digests remove anna@example.org",
)  # fmt: skip
command(
    digests, "test", digest_operations.test_digest, print_trial, arguments=["address"],
    example="mnemon digests test anna@example.org",
)  # fmt: skip
command(
    digests, "replay", digest_operations.replay_digest, print_replayed, arguments=["address"],
    example="mnemon digests replay anna@example.org",
)  # fmt: skip
