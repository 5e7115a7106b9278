"""`mnemon subscription` as a person or a script runs it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from mnemon.app import open_mnemon
from mnemon.cli.main import app
from mnemon.identity.tenants import tenant_by_slug
from mnemon.log.errors import DeadLetterNotFound, SubscriptionNotFound
from mnemon.log.events import Event
from mnemon.log.subscribe.delivery import Delivery
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.settings import load_settings


@pytest.fixture(autouse=True)
def environment(served_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMON_HOME", str(served_home))
    monkeypatch.setenv("MNEMON_DATABASE_LINGER_SECONDS", "5")


def mnemon(*words: str) -> Result:
    return CliRunner().invoke(app, ["subscription", *words])


def result(*words: str) -> Any:
    done = mnemon(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


async def fail_once(home: Path) -> None:
    """Deliver to a subscriber that handles nothing, so that everything becomes a dead letter."""
    async with open_mnemon(load_settings(home=home)) as opened:
        tenant = await tenant_by_slug(opened.database, "main")

        async def handler(event: Event) -> None:
            raise ValueError("no")

        limits = DeliveryLimits(failures=1, breaker_failures=1000)
        await Delivery(opened.log, tenant.tenant_id, "billing", handler, limits=limits).catch_up()


def test_a_subscription_from_add_to_remove() -> None:
    made = result("add", "billing", "--module", "identity", "--scope", "region=north")
    assert (made["status"], made["modules"], made["scopes"]) == ("active", ["identity"], {"region": "north"})
    assert result("remove", "billing") == {"removed": "billing"}
    made = result("add", "billing", "--strict")
    assert made["failure_holds"] == "partition"
    behind = made["lag"]
    assert behind > 0, "the first start is in the log"
    assert mnemon("pause", "billing").stdout == "billing is paused.\n"
    assert result("show", "billing")["status"] == "paused"
    assert result("resume", "billing")["status"] == "active"
    assert result("reset", "billing", "--to", "main=1")["lag"] == behind - 1
    assert mnemon("reset", "billing", "--to", "main").exit_code == 1
    assert "billing" in mnemon("list").stdout
    assert isinstance(mnemon("show", "nobody").exception, SubscriptionNotFound)


def test_dead_letters_are_listed_replayed_and_discarded(home: Path) -> None:
    behind = result("add", "billing")["lag"]
    asyncio.run(fail_once(home))
    letters = result("dead-letters", "billing")
    assert letters[0]["error"] == "ValueError: no"
    assert sum(1 + letter["waiting"] for letter in letters) >= behind
    assert mnemon("dead-letters", "billing").stdout.count("  ValueError: no\n") == len(letters)
    first = letters[0]["sequence"]
    assert result("replay", "billing", "--sequence", first) == {"replayed": 1}
    rest = len(letters) - 1
    assert result("discard", "billing") == {"discarded": rest}
    assert isinstance(mnemon("discard", "billing", "--sequence", first).exception, DeadLetterNotFound)
