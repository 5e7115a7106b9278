"""What commands and programs kept under names of their own, once they read and keep as the person of the home."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest

from mnemon.app import Mnemon, open_mnemon
from mnemon.db.database import Database
from mnemon.identity import at_home
from mnemon.identity.at_home import seated
from mnemon.identity.bootstrap import FIRST_ADMIN, administrator_without_login
from mnemon.identity.forgotten import close_accounts
from mnemon.identity.roles import Role, user_actor_id
from mnemon.identity.users import add_user
from mnemon.log.events import OPERATOR, Actor
from mnemon.settings import load_settings
from tests.client.test_at_home import command

HomeCommand = Callable[..., Any]


@pytest.fixture(autouse=True)
def home(served_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MNEMON_HOME", str(served_home))
    monkeypatch.setenv("MNEMON_EMBEDDER", "none")
    monkeypatch.setenv("MNEMON_DATABASE_LINGER_SECONDS", "5")
    return served_home


@pytest.fixture
def command_of_before() -> Iterator[HomeCommand]:
    async def alone(database: Database, tenant: UUID, actor: Actor) -> Actor:
        return actor

    def run(*words: str) -> Any:
        with patch.object(at_home, "seated", alone):
            return command(*words)

    yield run


def test_a_private_file_of_before_is_known_when_it_comes_again(tmp_path: Path, command_of_before: HomeCommand) -> None:
    diary = tmp_path / "diary.txt"
    diary.write_text("The walrus came on Monday.\n")
    command_of_before("add", str(diary), "--visibility", "me")
    for words in ([], ["--visibility", "me"]):
        command("add", str(diary), *words)
        [one] = command("documents", "list")["documents"]
        assert one["visibility_scope"] == "me", "nothing of it is for others"


def test_a_key_of_before_keeps_nothing_twice(tmp_path: Path, command_of_before: HomeCommand) -> None:
    notes = tmp_path / "notes.jsonl"
    notes.write_text(json.dumps({"content": "Ada prefers mail", "key": "n-1", "readers": ["me"]}) + "\n")
    command_of_before("memory", "import", str(notes))
    command("memory", "import", str(notes))
    assert len(command("memory", "list")) == 1


def test_what_is_mine_holds_what_was_kept_before(command_of_before: HomeCommand) -> None:
    command_of_before("remember", "The old key hangs in the shed", "--reader", "me")
    command("remember", "The new key hangs in the hall", "--reader", "me")
    assert len(command("memory", "list", "--owner", "me")) == 2
    assert len(command("recall", "key", "--owner", "me")) == 2
    command("memory", "forget", "--owner", "me", "--yes")
    assert command("memory", "list") == []


def test_a_list_for_me_goes_on_where_it_ended(tmp_path: Path, command_of_before: HomeCommand) -> None:
    mbox = tmp_path / "ours.mbox"
    mbox.write_text("From a@b Mon Jan  1 00:00:00 2024\nFrom: Ada <a@b.example>\nMessage-ID: <1@b>\n\nHello.\n")
    words = ("mail", "import", str(mbox), "--visibility-scope", "me", "--no-wait")
    before = command_of_before(*words)
    assert command(*words)["source_id"] == before["source_id"]


def test_the_file_of_the_person_holds_what_the_log_says_of_their_command(command_of_before: HomeCommand) -> None:
    command_of_before("remember", "The old key hangs in the shed", "--reader", "me")
    command("remember", "The new key hangs in the hall", "--reader", "me")
    command("ask", "Where is the key?")

    async def person() -> str:
        async with open_mnemon(load_settings()) as mnemon:
            return user_actor_id((await administrator_without_login(mnemon.database)).user_id)

    held = command("privacy", "file", asyncio.run(person()))
    assert len(held["memory"]) == 2
    assert "Where is the key?" in [one["value"] for one in held["values"]]
    assert OPERATOR.id in {one["actor_id"] for one in held["acts"]}
    assert len(command("privacy", "file", OPERATOR.id)["memory"]) == 1


def test_who_takes_the_address_of_an_erased_person_is_not_the_person_of_the_home() -> None:
    async def seats(mnemon: Mnemon) -> tuple[str, ...]:
        admin = await administrator_without_login(mnemon.database)
        person = user_actor_id(admin.user_id)
        assert (await seated(mnemon.database, admin.tenant_id, OPERATOR)).reads_as[0] == person
        async with mnemon.log.transaction(admin.tenant_id) as transaction:
            await add_user(transaction, OPERATOR, "eve@example.org", Role.ADMIN)
        await close_accounts(mnemon.log, admin.tenant_id, [person])
        async with mnemon.log.transaction(admin.tenant_id) as transaction:
            await add_user(transaction, OPERATOR, FIRST_ADMIN, Role.ADMIN)
        return (await seated(mnemon.database, admin.tenant_id, OPERATOR)).reads_as

    async def work() -> tuple[str, ...]:
        async with open_mnemon(load_settings()) as mnemon:
            return await seats(mnemon)

    assert asyncio.run(work()) == (OPERATOR.id, "program")
