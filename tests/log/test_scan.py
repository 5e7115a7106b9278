"""Scanning: it finds what is there, in whatever spelling, and says where it looked."""

import base64
import gzip
from pathlib import Path
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.log.events import NewEvent
from mnemon.log.privacy.archive_store import DirectoryStore
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.scan import scan
from mnemon.log.store import EventLog
from mnemon.log.types.registry import Registry

from .conftest import SHOP, joined


@pytest.mark.parametrize(
    ("column_type", "stored"),
    [
        ("text", "before Zoë Quux after"),
        ("text", "BEFORE ZOË QUUX"),
        ("text", '{"name": "Zo\\u00eb Quux"}'),
        ("json", '{"name": "Zo\\u00eb Quux"}'),
        ("jsonb", '{"name": "Zoë Quux"}'),
        ("text[]", "{other,Zoë Quux}"),
        ("bytea", "before Zoë Quux".encode()),
        ("text", base64.b64encode(b"x" + "Zoë Quux".encode() + b"yz").decode()),
        ("text", base64.b64encode("Zoë Quux".encode()).decode()),
        ("text", "xx" + "Zoë Quux".encode().hex()),
        ("tsvector", "'zoë quux':1"),
    ],
)
async def test_a_word_is_found_in_any_column_and_spelling(
    own_database: Database, column_type: str, stored: str | bytes
) -> None:
    async with own_database.owner() as owner:
        await owner.execute(f"CREATE TABLE mnemon.elsewhere (n int, kept {column_type})")
        assert (await scan(own_database, ["Zoë Quux"])).clean
        await owner.execute(f"INSERT INTO mnemon.elsewhere VALUES (1, %s::{column_type})", (stored,))
    found = await scan(own_database, ["Zoë Quux"])
    assert [(one.place, one.times) for one in found.findings] == [("mnemon.elsewhere.kept", 1)]
    assert "mnemon.elsewhere.kept" in found.columns
    assert "mnemon.elsewhere.n" not in found.columns


async def test_words_with_wildcards_and_backslashes_mean_themselves(own_database: Database) -> None:
    async with own_database.owner() as owner:
        await owner.execute("CREATE TABLE mnemon.elsewhere (kept text)")
        await owner.execute("INSERT INTO mnemon.elsewhere VALUES ('fifty percent and a_b')")
    assert (await scan(own_database, ["fif%nt", "a__b and", "fift\\"])).clean


async def test_planner_statistics_are_looked_at_too(own_database: Database) -> None:
    async with own_database.owner() as owner:
        await owner.execute("CREATE TABLE mnemon.elsewhere (kept text)")
        await owner.execute("INSERT INTO mnemon.elsewhere SELECT 'Zoe Quux' FROM generate_series(1, 100)")
        await owner.execute("ANALYZE mnemon.elsewhere")
        await owner.execute("DELETE FROM mnemon.elsewhere")
    found = await scan(own_database, ["Zoe Quux"])
    assert [one.place for one in found.findings] == ["planner statistics of mnemon.elsewhere.kept"]


async def test_files_are_searched_compressed_or_not_and_across_borders(own_database: Database, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"x" * ((1 << 20) - 4) + b"Zoe Quux")
    (tmp_path / "packed.gz").write_bytes(gzip.compress(b"hello zoe quux"))
    (tmp_path / "clean").write_bytes(b"nothing")
    found = await scan(own_database, ["Zoe Quux"], folders=[tmp_path])
    assert [Path(one.place).name for one in found.findings] == ["packed.gz", "plain"]
    store = DirectoryStore(tmp_path / "archive")
    await store.put("a/b.gz", gzip.compress(b"... Zoe Quux ..."))
    found = await scan(own_database, ["Zoe Quux"], store=store)
    assert [(one.place, one.times) for one in found.findings] == [("archive a/b.gz", 1)]


async def test_short_words_are_counted_as_skipped_not_as_proof(own_database: Database) -> None:
    found = await scan(own_database, ["Al", "x"])
    assert (found.words, found.skipped, found.columns) == (0, 2, [])


async def test_before_an_erasure_the_words_come_from_the_log_itself(
    own_privacy: Privacy, own_database: Database, own_tenant: UUID
) -> None:
    name = "Zoe Quux"
    await own_privacy.log.append(own_tenant, [joined("c-7", name)])
    assert (await own_privacy.scan(own_tenant, "c-7")).clean
    async with EventLog(own_database, registry=Registry(own_database, SHOP)) as log:
        await log.append(own_tenant, [NewEvent(type="shop.order.noted", data={"text": f"{name} called"})])
    found = await own_privacy.scan(own_tenant, "c-7")
    assert [one.place.rsplit("_", 1)[0] for one in found.findings] == ["mnemon.event_payloads"]
    assert name not in repr(found)


async def test_all_that_is_known_about_a_person_can_be_shown(privacy: Privacy, tenant: UUID) -> None:
    await privacy.log.append(tenant, [joined(), joined("c-2", "Grace")])
    known = [one async for one in privacy.data_of(tenant, "c-1")]
    assert {(one.field, one.value) for one in known} == {
        ("/data/name", "Ada Lovelace"),
        ("/data/contact/email", "c-1@example.org"),
    }
