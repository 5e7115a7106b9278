"""One Mnemon as the witness of another, over REST."""

from uuid import UUID

import httpx
from httpx2 import ASGITransport

from mnemon.api.server import create_api
from mnemon.app import Mnemon
from mnemon.log.events import EntityReference, NewEvent
from mnemon.log.proof.witness_places import MnemonWitness
from mnemon.log.proof.witnesses import Witnesses

from .conftest import Person

_QUESTION = {
    "subject": "user:1", "question": "Who?", "outcome": "refused", "mode": "lexical", "strength": 0.0,
    "evidence": [], "near_misses": [], "dropped": 0,
}  # fmt: skip
_ENTITY = [EntityReference("question", "q-1")]


async def test_a_mnemon_keeps_the_roots_of_another_and_proves_what_lies_between(
    mnemon: Mnemon, client: httpx.AsyncClient, user: Person, tenant: UUID
) -> None:
    witness = MnemonWitness("http://test", user.session, ASGITransport(create_api(mnemon)))
    witnesses = Witnesses(mnemon.integrity, mnemon.log.reader, [witness])
    counts = []
    for _ in range(2):
        made = await mnemon.integrity.checkpoint(tenant)
        await witness.put(tenant, "main", made, lambda count: _path(mnemon, tenant, count))
        counts.append(str(made.sequence))
        await _grow(mnemon, tenant)
    asked = {"origin": str(tenant)}
    kept = (await client.get("/v1/witness/checkpoints", params=asked, headers=user.headers)).json()["checkpoints"]
    assert [one["sequence"] for one in kept] == counts
    assert kept[1]["path"]
    assert [one async for one in witnesses.contradictions(tenant, "main")] == []
    nobody = await client.get("/v1/witness/checkpoints/last", params={"origin": "nobody"}, headers=user.headers)
    assert nobody.status_code == 404


async def _path(mnemon: Mnemon, tenant: UUID, count: int) -> list[str]:
    return [one.hex() for one in (await mnemon.integrity.consistency(tenant, count)).path]


async def _grow(mnemon: Mnemon, tenant: UUID) -> None:
    await mnemon.log.append(tenant, [NewEvent(type="question.asked", data=_QUESTION, entities=_ENTITY)])
