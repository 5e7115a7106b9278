"""What goes and comes back: served again is the content that is there, and nothing that is gone stays for want of a
look."""

from pathlib import Path
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from tests.api.conftest import Person
from tests.documents.conftest import rows
from tests.documents.sources.conftest import Listed, Look
from tests.documents.sources.test_sources import Place, add, found, place
from tests.object_store import ObjectStore
from tests.work.conftest import Eventually

__all__ = ["place"]

NOTHING = ""


async def test_an_earlier_content_that_comes_back_is_the_one_that_is_served(
    place: Place, client: httpx.AsyncClient, admin: Person, look: Look, listed: Listed
) -> None:
    """It is not the last version that is back, but the first."""
    place.put("rule.txt", "Travel is booked by the office.")
    await add(client, admin, **place.told)
    await look(begin=False)
    for text in ("Travel is booked by everyone.", "Travel is booked by the office."):
        place.put("rule.txt", text)
        assert found(await look())["changed"] == 1
    place.remove("rule.txt")
    assert found(await look())["deactivated"] == 1
    place.put("rule.txt", "Travel is booked by the office.")
    assert found(await look())["restored"] == 1
    [document] = (await listed()).values()
    text = await client.get(f"/v1/documents/{document['doc_id']}/text", headers=admin.headers)
    assert "by the office" in text.text and "everyone" not in text.text


async def test_a_content_that_could_not_be_taken_in_is_not_served_as_an_earlier_one_when_it_comes_back(
    place: Place, client: httpx.AsyncClient, admin: Person, look: Look, listed: Listed
) -> None:
    place.put("rule.txt", "Travel is booked by the office.")
    await add(client, admin, **place.told)
    await look(begin=False)
    place.put("rule.txt", NOTHING)
    assert found(await look()) == {"listed": 1, "refused": 1}
    place.remove("rule.txt")
    assert found(await look()) == {"deactivated": 1}
    place.put("rule.txt", NOTHING)
    assert found(await look()) == {"listed": 1, "refused": 1}
    assert await listed() == {}, "what is there now says nothing of the office"


@pytest.mark.parametrize(("every_minutes", "within"), [(60, (8, 10)), (5, (3, 5)), (None, None)])
async def test_what_is_gone_while_it_is_read_is_looked_for_again_though_nobody_asks(
    folder: Path, client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID, look: Look,
    eventually: Eventually, every_minutes: int | None, within: tuple[int, int] | None,
) -> None:  # fmt: skip
    (folder / "short.txt").write_text("Here for a moment.")
    await add(client, admin, location=str(folder), every_minutes=every_minutes)
    await look(begin=False)
    async with mnemon.database.owner() as owner:
        # As if the run were still waiting for a worker.
        await owner.execute(
            "UPDATE mnemon.ingestion_runs SET status = 'queued', finished_at = NULL WHERE tenant_id = %s", (tenant,)
        )
    (folder / "short.txt").unlink()
    begun = await client.post("/v1/sources/policies/sync", headers=admin.headers)
    assert begun.status_code == 202

    async def ended() -> bool:
        [sync] = (await client.get("/v1/sources/policies/syncs?limit=1", headers=admin.headers)).json()["items"]
        return sync["status"] == "succeeded" and sync["counts"]["waiting"] == 1

    await eventually(ended)
    [source] = await rows(mnemon, tenant, "SELECT next_sync_at - now() AS left FROM mnemon.document_sources")
    if within is None:
        assert source["left"] is None, "nobody wants it looked at by the clock"
    else:
        least, most = within
        assert least < source["left"].total_seconds() / 60 <= most, "soon, and not again and again meanwhile"


async def test_what_one_source_wants_no_more_is_served_as_long_as_another_has_it(
    store: ObjectStore, client: httpx.AsyncClient, admin: Person, look: Look, listed: Listed
) -> None:
    place = Place(Path(), store)
    place.put("rule.txt", "Travel is booked by the office.")
    await add(client, admin, **place.told)
    await look(begin=False)
    within = place.told | {"location": f"s3://{store.bucket}/docs/r"}
    assert (await add(client, admin, **(within | {"name": "within"}))).status_code == 201
    await look("within", begin=False)

    unwanted = {"exclude": ["rule.txt"]}
    await client.patch("/v1/sources/policies", json=unwanted, headers=admin.headers)
    assert found(await look())["kept_by_another"] == 1
    assert set(await listed()) == {"rule.txt"}
    await client.patch("/v1/sources/within", json=unwanted, headers=admin.headers)
    assert found(await look("within"))["deactivated"] == 1
    assert await listed() == {}

    for name in ("policies", "within"):
        await client.patch(f"/v1/sources/{name}", json={"exclude": []}, headers=admin.headers)
        await look(name)
    assert set(await listed()) == {"rule.txt"}
    place.remove("rule.txt")
    assert found(await look())["deactivated"] == 1
    assert await listed() == {}, "it is gone for both, though one has not looked yet"
