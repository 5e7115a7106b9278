"""A client keeps the last root that it was shown, and has each later one proven: a rewritten history does not pass."""

from pathlib import Path
from uuid import UUID

import orjson
import pytest
from psycopg.conninfo import conninfo_to_dict

from mnemon.app import Mnemon
from mnemon.client.calls import AsyncMnemonClient
from mnemon.client.roots import HistoryChanged, Roots
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.identity.roles import CredentialScope
from mnemon.log.errors import NothingToAttest
from mnemon.log_operations import event_types
from tests.api.conftest import Person, admin, mnemon, token_for
from tests.log.test_integrity import chain_again, superuser

from .test_remote import calls, memory, settings

__all__ = ["admin", "memory", "mnemon", "settings"]
SALE = {"type": "shop.sale.made", "data_schema": {"type": "object"}}


@pytest.fixture
async def database(own_database: Database) -> Database:
    """A round of seals goes over every tenant that there is, and the shared database has those of all tests."""
    return own_database


async def sell(memory: AsyncMnemonClient, number: int) -> None:
    await memory.append({"type": "shop.sale.made", "data": {"n": number}})


@pytest.fixture
async def shop(memory: AsyncMnemonClient, mnemon: Mnemon, tenant: UUID) -> AsyncMnemonClient:
    await memory.call(event_types.register, event_types.register.input.model_validate(SALE))
    await sell(memory, 1)
    await mnemon.integrity.checkpoint(tenant)
    return memory


def rewrite(mnemon: Mnemon, server: EmbeddedServer, tenant: UUID) -> None:
    """With everything that a forger needs: the database, the files outside it and the signing key."""
    name = conninfo_to_dict(mnemon.database.server.owner_conninfo)["dbname"]
    with superuser(server, str(name)) as owner:
        owner.execute("UPDATE mnemon.events SET recorded_at = recorded_at - interval '1 day' WHERE tenant_id = %s",
                      (tenant,))  # fmt: skip
        chain_again(owner, tenant, 1)
        for table in ("checkpoints", "seals", "merkle_nodes"):
            owner.execute(f"DELETE FROM mnemon.{table} WHERE tenant_id = %s", (tenant,))
    files = mnemon.integrity.checkpoints
    files.file_of(tenant, "main").unlink()
    files.seal_of(tenant, "main").unlink(missing_ok=True)


async def test_a_log_that_grew_is_proven_again_and_again(shop: AsyncMnemonClient, mnemon: Mnemon, tenant: UUID) -> None:
    first = await shop.verify_consistency()
    assert (first.tenant_id, first.legal_entity, first.public_key) == (tenant, "main", mnemon.integrity.public_key)
    assert await shop.verify_consistency() == first, "nothing is signed since"
    for number in range(5):
        await sell(shop, number)
    await mnemon.integrity.seal_all()
    second = await shop.verify_consistency()
    assert second.count >= first.count + 5
    assert await shop.verify_consistency(first) == second, "whoever kept an older root may ask from there"
    await mnemon.integrity.rotate_key()
    third = await shop.verify_consistency()
    assert third.public_key != first.public_key, "the old key announced the new one"


async def test_a_log_that_was_rewritten_is_noticed_by_who_kept_its_root(
    shop: AsyncMnemonClient, mnemon: Mnemon, tenant: UUID, admin: Person, server: EmbeddedServer, tmp_path: Path
) -> None:
    kept = tmp_path / "roots.json"
    token = await token_for(mnemon, tenant, admin, CredentialScope.READ)
    async with AsyncMnemonClient(calls(mnemon, token), Roots(kept)) as reader:
        seen = await reader.verify_consistency()
    rewrite(mnemon, server, tenant)
    await mnemon.integrity.checkpoint(tenant)
    async with AsyncMnemonClient(calls(mnemon, token)) as newcomer:
        assert (await newcomer.verify_consistency()).count >= seen.count, "who never saw the log takes it on trust"
    async with AsyncMnemonClient(calls(mnemon, token), Roots(kept), prove_reads=True) as reader:
        with pytest.raises(HistoryChanged, match="are not those whose root was kept"):
            await reader.search("anything")
    assert orjson.loads(kept.read_bytes())["main"]["root"] == seen.root, "what was seen first is kept"


async def test_a_shorter_log_another_key_and_another_tenant_are_noticed(
    shop: AsyncMnemonClient, mnemon: Mnemon
) -> None:
    seen = await shop.verify_consistency()
    with pytest.raises(HistoryChanged, match="no proof is given"):
        await shop.verify_consistency(seen.model_copy(update={"count": seen.count + 9}))
    with pytest.raises(HistoryChanged, match="never announced"):
        await shop.verify_consistency(seen.model_copy(update={"public_key": "ab" * 32}))
    with pytest.raises(HistoryChanged, match="of another log"):
        await shop.verify_consistency(seen.model_copy(update={"tenant_id": UUID(int=1)}))


async def test_what_nobody_signed_cannot_be_kept(memory: AsyncMnemonClient) -> None:
    with pytest.raises(NothingToAttest, match="no checkpoint yet"):
        await memory.verify_consistency()
