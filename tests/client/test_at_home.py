"""Who sits at a home is one person: by the command, by a program, on the page and for agents without a token."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mnemon import connect
from mnemon.app import open_mnemon
from mnemon.cli.main import app
from mnemon.identity.bootstrap import administrator_without_login
from mnemon.identity.roles import Principal, Role
from mnemon.identity.users import add_user
from mnemon.log.events import OPERATOR, PROGRAM, Actor
from mnemon.memory.operations import objects
from mnemon.operations import Caller, read_input
from mnemon.settings import load_settings


@pytest.fixture(autouse=True)
def home(served_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MNEMON_HOME", str(served_home))
    monkeypatch.setenv("MNEMON_EMBEDDER", "none")
    monkeypatch.setenv("MNEMON_DATABASE_LINGER_SECONDS", "5")
    return served_home


def command(*words: str) -> Any:
    done = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def seen_by(whom: str) -> set[str]:
    """What the person of the page sees in memory; or somebody else who came later."""

    async def found() -> set[str]:
        async with open_mnemon(load_settings()) as mnemon:
            admin = await administrator_without_login(mnemon.database)
            if whom == "admin":
                caller = Caller.of(admin)
            else:
                async with mnemon.log.transaction(admin.tenant_id) as transaction:
                    other = await add_user(transaction, OPERATOR, whom, Role.ADMIN)
                caller = Caller.of(Principal(admin.tenant_id, other.user_id, Role.ADMIN))
            page = await objects.find(mnemon, caller, read_input(objects.find, {}))
            return {one.content for one in page.objects}

    return asyncio.run(found())


def test_me_is_the_person_of_this_home_on_every_door() -> None:
    with connect() as memory:
        kept = memory.remember("Refunds over 500 EUR need the CFO", readers=["me"])
        assert memory.recall("refunds")[0].emo_id == kept.emo_id
    command("remember", "The spare key hangs in the shed", "--reader", "me")
    both = {"Refunds over 500 EUR need the CFO", "The spare key hangs in the shed"}
    assert {one["content"] for one in command("memory", "list", "--owner", "me")} >= both
    assert command("recall", "refunds")[0]["emo_id"] == str(kept.emo_id)
    with connect() as memory:
        assert memory.recall("spare key")[0].content == "The spare key hangs in the shed"
    assert seen_by("admin") >= both
    assert not seen_by("bo@example.org") & both
    said = CliRunner().invoke(app, ["log", "read", "--type", "emo.created", "--all", "--json"]).stdout
    actors = {json.loads(line)["actor"]["id"] for line in said.splitlines()}
    assert actors == {"program", "operator:cli"}, "the log says which of them it was"


def test_a_private_document_is_for_the_same_person(tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("The walrus came on Monday.\n")
    command("add", str(tmp_path / "diary.txt"), "--visibility", "me")
    with connect() as memory:
        assert [one.title for one in memory.search("walrus")] == ["diary.txt"]


def test_what_was_kept_before_the_person_of_the_home_was_known_stays_theirs() -> None:
    async def kept(actor: Actor) -> None:
        async with open_mnemon(load_settings()) as mnemon:
            admin = await administrator_without_login(mnemon.database)
            wanted = read_input(objects.create, {"content": f"An old note of {actor.id}", "readers": ["me"]})
            await objects.create(mnemon, Caller(admin.tenant_id, actor), wanted)

    asyncio.run(kept(OPERATOR))
    asyncio.run(kept(PROGRAM))
    old = {f"An old note of {one.id}" for one in (OPERATOR, PROGRAM)}
    assert {one["content"] for one in command("memory", "list")} >= old
    with connect() as memory:
        assert {one.content for one in memory.recall("old note")} >= old
    for one in command("recall", "old note"):
        command("memory", "edit", one["emo_id"], "--content", "changed", "--why", "it may")
    assert not seen_by("cy@example.org") & {*old, "changed"}
