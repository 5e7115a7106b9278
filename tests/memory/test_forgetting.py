"""An object about a person is sealed with their key; once they are erased nothing of it is left, and hashes agree."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer
from mnemon.log.errors import SubjectErased
from mnemon.log.events import NewEvent
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.privacy.privacy import Privacy
from mnemon.memory.errors import SubjectDiffers
from mnemon.memory.gateway import Memory
from mnemon.memory.objects import Link, Parent, Place
from mnemon.memory.translator import SUBSCRIPTION, object_of_item
from mnemon.models.local import LocalEmbedder
from tests.memory.conftest import ADA, BOT

SECRET = "Zebulon collects antique barometers"
WORDS = ("Zebulon", "barometers", "xylophone", "tachyon", "marmalade", "quokka")


@pytest.fixture
def database(own_database: Database) -> Database:
    """A scan reads every table: in the shared database, all that was ever tested."""
    return own_database


@pytest.fixture(scope="session")
async def embedder(open_folder: Path) -> AsyncIterator[LocalEmbedder]:
    opened = LocalEmbedder(open_folder / "models-home")
    yield opened
    await opened.close()


async def a_person(memory: Memory, tenant: UUID, place: Place) -> tuple[UUID, UUID]:
    """An object about a person with every kind of change, and a plain one beside it."""
    changes = memory.changes
    plain = (await changes.create(tenant, place, ADA, content="The office is in Lisbon.")).object.emo_id
    about = (
        await changes.create(
            tenant, place, ADA, content=SECRET, emo_type="profile", subject_id="person-7", tags=["marmalade"],
            facets={"hobby": "xylophone"}, rationale="tachyon", links=[Link("uri", "https://example.org/quokka")],
            parents=[Parent(plain, "derived")],
        )
    ).object.emo_id  # fmt: skip
    await changes.update(tenant, place, ADA, about, content=SECRET + " and maps", rationale="tachyon again")
    await changes.set_facet(tenant, place, ADA, about, "instrument", "xylophone")
    await changes.delete(tenant, place, ADA, about, reason="quokka")
    await changes.restore(tenant, place, ADA, about)
    return about, plain


async def erase(privacy: Privacy, tenant: UUID) -> None:
    asked = await privacy.erasures.request(tenant, "person-7", reason="subject_request", requested_by="u-7")
    await privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-8")


# Every file of the schema's tables, with what is stored beside them, and their indexes.
FILES = """
SELECT c.oid::regclass::text AS name, pg_read_binary_file(pg_relation_filepath(c.oid)) AS content
  FROM pg_class c LEFT JOIN pg_class t ON t.reltoastrelid = c.oid
 WHERE c.relkind IN ('r', 'i', 't')
   AND 'mnemon'::regnamespace IN (c.relnamespace, t.relnamespace) AND pg_relation_filepath(c.oid) IS NOT NULL
"""


async def test_the_files_of_the_database_hold_nothing_once_they_are_rewritten(
    memory: Memory, privacy: Privacy, tenant: UUID, place: Place, server: EmbeddedServer, own_server: ExternalServer
) -> None:
    """As the guide says: lenses are plain while the person is known, the log never is; VACUUM FULL ends the rest."""
    dbname = conninfo_to_dict(own_server.owner_conninfo)["dbname"]
    way = make_conninfo(server.cluster.conninfo("postgres"), dbname=dbname)

    def holding(superuser: psycopg.Connection[Any]) -> set[str]:
        superuser.execute("CHECKPOINT")
        rows = superuser.execute(FILES).fetchall()
        return {name for name, content in rows if any(word.encode() in bytes(content) for word in WORDS)}

    await a_person(memory, tenant, place)
    with psycopg.connect(way, autocommit=True) as superuser:
        plain = holding(superuser)
        assert {"mnemon.emo_current", "mnemon.emo_history"} <= plain
        assert not [name for name in plain if name.startswith("mnemon.event")], "the log has ciphertext alone"
        await erase(privacy, tenant)
        superuser.execute("VACUUM FULL")
        assert holding(superuser) == set()


async def test_nothing_of_an_erased_person_is_left_in_memory(
    memory: Memory, privacy: Privacy, tenant: UUID, place: Place, embedder: LocalEmbedder
) -> None:
    memory = Memory(memory.log, memory.projector, lambda: embedder)
    privacy.erasures.on_erased.append(memory.vectors.on_erased)
    about, plain = await a_person(memory, tenant, place)
    away = Place(place.world_id, "away")
    await memory.branches.create(tenant, away, BOT)
    await memory.changes.update(tenant, away, BOT, about, content=SECRET + " elsewhere")
    await memory.compaction.compact(tenant, place, about, ADA)
    await memory.vectors.catch_up(tenant, embedder)
    assert (await memory.semantic.similar_objects(tenant, place, SECRET, k=1))[0].object.emo_id == about
    assert not (await privacy.scan(tenant, "person-7", WORDS)).clean

    await erase(privacy, tenant)

    found = await privacy.scan(tenant, "person-7", WORDS)
    assert found.clean, found
    one = (await memory.reading.get(tenant, place, about)).object
    assert (one.content, one.tags, one.facets, one.links) == (REDACTED, (), {}, ())
    assert one.parents == (Parent(plain, "derived"),)
    assert (one.emo_version, one.subject_id) == (5, "person-7")
    near = await memory.semantic.similar_objects(tenant, place, SECRET)
    assert [one.object.emo_id for one in near] == [plain]
    assert (await memory.search.search(tenant, place, "Zebulon", mode="text")).hits == []
    assert (await memory.vectors.status(tenant)).vectors == 1
    report = await memory.replay.verify(tenant)
    assert report.same, report.differences
    assert all(one.rationale is None for one in await memory.reading.history(tenant, place, about))


async def test_no_more_is_written_about_an_erased_person_but_the_object_can_go(
    memory: Memory, privacy: Privacy, tenant: UUID, place: Place
) -> None:
    about, _ = await a_person(memory, tenant, place)
    await erase(privacy, tenant)
    with pytest.raises(SubjectErased):
        await memory.changes.update(tenant, place, ADA, about, content="again")
    with pytest.raises(SubjectErased):
        await memory.changes.create(tenant, place, ADA, content="new", subject_id="person-7")
    await memory.changes.delete(tenant, place, ADA, about)
    assert (await memory.replay.verify(tenant)).same


async def test_the_log_holds_what_is_said_about_a_person_only_sealed(
    memory: Memory, tenant: UUID, place: Place
) -> None:
    await a_person(memory, tenant, place)
    assert not [word for word in WORDS if word in await stored_text(memory, tenant)]


async def stored_text(memory: Memory, tenant: UUID) -> str:
    """Every payload as the log's table has it."""
    async with memory.log.database.transaction(tenant) as connection:
        [partition] = await memory.log.list_partitions(tenant)
        rows = await connection.execute(
            "SELECT payload FROM mnemon.event_payloads WHERE tenant_id = %s AND partition_id = %s",
            (tenant, partition.partition_id),
        )
        return " ".join(row["payload"] for row in await rows.fetchall())


HABIT = "Quillbert bottles pickled samphire"
ITEM_WORDS = ("Quillbert", "samphire", "vermicelli", "ocarina", "isotherm", "periwinkle")


def item(kind: str, **data: Any) -> NewEvent:
    return NewEvent(type=f"memory.item.{kind}", data={"item_id": "crm-7"} | data, actor=ADA.actor)


async def test_an_item_about_a_person_is_sealed_in_the_log_and_erased_with_them(
    memory: Memory, privacy: Privacy, tenant: UUID, place: Place
) -> None:
    """Another program's item, and the object that it becomes."""
    about = {"subject_id": "person-7", "tags": ["vermicelli"], "source": {"kind": "ingest", "uri": "x:ocarina"}}
    await memory.log.append(tenant, [item("upserted", content=HABIT, reason="isotherm", **about)])
    await memory.translator.catch_up(tenant)
    await memory.log.append(tenant, [item("upserted", content=HABIT + " and maps", **about)])
    await memory.log.append(tenant, [item("deleted", reason="periwinkle", subject_id="person-7")])
    await memory.translator.catch_up(tenant)
    [one] = (await memory.reading.history(tenant, place, object_of_item(place, "crm-7")))[:1]
    assert (one.object.content, one.object.subject_id) == (HABIT, "person-7")
    assert not [word for word in ITEM_WORDS if word in await stored_text(memory, tenant)]

    await erase(privacy, tenant)
    assert (await privacy.scan(tenant, "person-7", ITEM_WORDS)).clean
    assert (await memory.replay.verify(tenant)).same


async def test_an_item_whose_person_was_erased_before_it_was_kept_is_left_out(
    memory: Memory, privacy: Privacy, tenant: UUID, place: Place
) -> None:
    await memory.log.append(tenant, [item("upserted", content=SECRET, subject_id="person-7")])
    await erase(privacy, tenant)
    await memory.translator.catch_up(tenant)
    assert await memory.reading.count(tenant, place) == 0
    assert await memory.log.dead_letters.list(tenant, SUBSCRIPTION) == []


async def test_an_item_about_another_person_than_its_object_is_refused(
    memory: Memory, tenant: UUID, place: Place
) -> None:
    [made, other] = await memory.log.append(
        tenant, [item("upserted", content="plain"), item("upserted", content=SECRET, subject_id="person-7")]
    )
    await memory.translator.translate(await memory.log.read_event(tenant, made.id))
    with pytest.raises(SubjectDiffers, match="about nobody"):
        await memory.translator.translate(await memory.log.read_event(tenant, other.id))
    assert (await memory.reading.get(tenant, place, object_of_item(place, "crm-7"))).object.content == "plain"
