"""`mnemon subscription`: who follows the log, how far they are, and what they could not handle."""

from typing import Annotated, Any

import typer

from mnemon.cli.binding.bind import command
from mnemon.cli.output import counted, say, table
from mnemon.errors import InvalidRequest
from mnemon.log.events import MAIN
from mnemon.log_operations import dead_letters, subscriptions
from mnemon.operations import Differs

app = typer.Typer(help="Subscriptions: who follows the log, and how far they are.", no_args_is_help=True)

NEW: dict[str, Any] = {
    "entity": Annotated[list[str] | None, typer.Option(help="Only events of TYPE/ID. May repeat.")],
    "scope": Annotated[list[str] | None, typer.Option(help="Only where NAME=VALUE, like region=north.")],
    "strict": Annotated[bool, typer.Option(help="A failing event holds its whole partition, not its entities.")],
    "from_now": Annotated[bool, typer.Option("--from-now", help="Leave out what is in the log already.")],
}
BY_WORD = {
    "entities": Differs("--entity names them one by one."),
    "scopes": Differs("--scope names them one by one."),
    "failure_holds": Differs("--strict says it."),
    "start": Differs("--from-now says it."),
    "subscriber_type": Differs("Whoever types the command makes it.", default="command"),
}
PLACES: dict[str, Any] = {
    "to": Annotated[
        list[str] | None,
        typer.Option(help="LEGAL_ENTITY=SEQUENCE to go on after. May repeat. None: everything, from the beginning."),
    ]
}
BY_PLACE = {"positions": Differs("--to names them one by one.")}
OF_MAIN = {"legal_entity": Differs("Most logs have one partition: --sequence alone names a letter.", default=MAIN)}
SHORT = {"event_types": "--type", "modules": "--module", "legal_entities": "--legal-entity"}


def _wanted(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    entities = [_pair(one, "/", "TYPE/ID") for one in values.pop("entity") or ()]
    return values | {
        "entities": [{"entity_type": kind, "entity_id": name} for kind, name in entities],
        "scopes": dict(_pair(one, "=", "NAME=VALUE") for one in values.pop("scope") or ()),
        "failure_holds": "partition" if values.pop("strict") else "entity",
        "start": "now" if values.pop("from_now") else "beginning",
    }


def _places(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    given = [_pair(one, "=", "LEGAL_ENTITY=SEQUENCE") for one in values.pop("to") or ()]
    for _, sequence in given:
        if not sequence.isdecimal():
            raise InvalidRequest(f"{sequence!r} is not a sequence: give a whole number.")
    return values | {"positions": dict(given) or None}


def _one_or_all(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    return values if values["sequence"] is not None else values | {"legal_entity": None}


def _pair(text: str, separator: str, form: str) -> tuple[str, str]:
    first, found, second = text.partition(separator)
    if not found or not first or not second:
        raise InvalidRequest(f"{text!r} should look like {form}.")
    return first, second


def _print_list(found: subscriptions.SubscriptionList) -> None:
    rows = [
        (one.id, one.subscriber_type, one.status, one.lag, one.dead, one.error_count, one.last_error)
        for one in found.subscriptions
    ]
    headings = ["Id", "Type", "Status", "Behind", "Dead letters", "Errors", "Last error"]
    table(headings, rows, "No subscriptions.")


def _print_one(found: subscriptions.SubscriptionDetail) -> None:
    say(f"{found.id} is {found.status}, {found.lag} events behind, {found.error_count} errors so far.")
    rows = [
        (one.legal_entity, one.sequence, one.head, one.lag, one.parked, one.dead, one.holder) for one in found.positions
    ]
    headings = ["Legal entity", "Cursor", "Head", "Behind", "Parked", "Dead letters", "Delivered by"]
    table(headings, rows, "No partition yet.")


def _print_letters(found: dead_letters.DeadLetterList) -> None:
    rows = [
        (one.legal_entity, one.sequence, one.type, one.attempts, one.waiting, one.failed_at, one.error)
        for one in found.dead_letters
    ]
    headings = ["Legal entity", "Sequence", "Type", "Attempts", "Waiting", "Failed", "Error"]
    table(headings, rows, "No dead letters.")


command(
    app, "list", subscriptions.listed, _print_list, written=lambda found: found["subscriptions"],
    example="mnemon subscription list",
)  # fmt: skip
command(
    app, "show", subscriptions.get, _print_one, arguments=["subscription_id"],
    example="mnemon subscription show billing",
)  # fmt: skip
command(
    app, "add", subscriptions.add, lambda made: say(f"Added {made.id}, {made.lag} events behind."),
    arguments=["subscription_id"], beside=NEW, prepare=_wanted, differences=BY_WORD, short=SHORT,
    example="mnemon subscription add billing --type shop.order.placed --scope region=north",
)  # fmt: skip
command(
    app, "pause", subscriptions.pause, lambda one: say(f"{one.id} is paused."), arguments=["subscription_id"],
    example="mnemon subscription pause billing",
)  # fmt: skip
command(
    app, "resume", subscriptions.resume, lambda one: say(f"{one.id} is active."), arguments=["subscription_id"],
    example="mnemon subscription resume billing",
)  # fmt: skip
command(
    app, "reset", subscriptions.reset, lambda one: say(f"{one.id} is now {one.lag} events behind."),
    arguments=["subscription_id"], beside=PLACES, prepare=_places, differences=BY_PLACE,
    example="mnemon subscription reset billing --to main=1200",
)  # fmt: skip
command(
    app, "dead-letters", dead_letters.listed, _print_letters, arguments=["subscription_id"],
    written=lambda found: found["dead_letters"], example="mnemon subscription dead-letters billing",
)  # fmt: skip
command(
    app, "replay", dead_letters.replay,
    lambda done: say(f"{counted(done.count, 'dead letter')} to be delivered again."),
    arguments=["subscription_id"], differences=OF_MAIN, prepare=_one_or_all,
    written=lambda done: {"replayed": done["count"]}, example="mnemon subscription replay billing --sequence 42",
)  # fmt: skip
command(
    app, "discard", dead_letters.discard, lambda done: say(f"{counted(done.count, 'dead letter')} discarded."),
    arguments=["subscription_id"], differences=OF_MAIN, prepare=_one_or_all,
    written=lambda done: {"discarded": done["count"]}, example="mnemon subscription discard billing --sequence 42",
)  # fmt: skip
command(
    app, "remove", subscriptions.remove, lambda one: say(f"Removed {one.removed}."), arguments=["subscription_id"],
    example="mnemon subscription remove billing",
)  # fmt: skip
