"""Lenses over REST: listed for everyone, rebuilt and verified by administrators."""

import httpx

from mnemon.app import Mnemon

from .conftest import Person


async def test_lenses_are_listed_rebuilt_and_verified(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, user: Person
) -> None:
    await client.post("/v1/memory/objects", json={"content": "The lens remembers this."}, headers=user.headers)
    listed = (await client.get("/v1/lenses", headers=user.headers)).json()
    assert {one["name"] for one in listed["lenses"]} >= {"documents", "memory", "semantics"}
    assert all(one["status"] in ("empty", "current") for one in listed["lenses"])
    for name in sorted(one["name"] for one in listed["lenses"]):
        assert (await client.post(f"/v1/lenses/{name}/verify", headers=user.headers)).status_code == 403
        rebuilt = (await client.post(f"/v1/lenses/{name}/rebuild", headers=admin.headers)).json()
        verified = (await client.post(f"/v1/lenses/{name}/verify", headers=admin.headers)).json()
        assert verified["matches"] and verified["stored_hash"] == verified["replayed_hash"]
        assert len(rebuilt["state_hash"]) == 64
    listed = (await client.get("/v1/lenses", headers=user.headers)).json()
    assert {one["status"] for one in listed["lenses"]} == {"current"}
    async with mnemon.database.owner() as owner:
        await owner.execute("UPDATE mnemon.emo_current SET content = 'Someone else wrote this.'")
    wrong = (await client.post("/v1/lenses/memory/verify", headers=admin.headers)).json()
    assert not wrong["matches"] and wrong["stored_hash"] != wrong["replayed_hash"]
    await client.post("/v1/lenses/memory/rebuild", headers=admin.headers)
    assert (await client.post("/v1/lenses/memory/verify", headers=admin.headers)).json()["matches"]
    missing = await client.post("/v1/lenses/nobody/rebuild", headers=admin.headers)
    assert (missing.status_code, missing.json()["error_code"]) == (404, "NOT_FOUND")
