"""Memory by meaning over REST: similar objects, facets and rationales, and how far the vectors are behind."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from mnemon.api.access import MnemonPart
from mnemon.api.memory_models import FoundObject
from mnemon.api.memory_requests import MemoryRoute, Reader, ReadingAsked
from mnemon.memory.answers import object_as_json
from mnemon.memory.semantic import MOST, Near

router = APIRouter(tags=["memory"], route_class=MemoryRoute)
Amount = Annotated[int, Query(ge=1, le=MOST)]
Threshold = Annotated[float, Query(ge=-1, le=1, description="Least similarity; 1 is the same text.")]
Text = Annotated[str, Query(min_length=1, max_length=2000)]


class NearOut(BaseModel):
    kind: str = Field(description="content, facet or rationale")
    name: str = Field(description="Of a facet; of a rationale, the version it explains.")
    text: str
    similarity: float
    object: FoundObject


class Similar(BaseModel):
    similar: list[NearOut]


class StatusOut(BaseModel):
    model_id: str | None
    embed_dim: int | None
    vectors: int
    behind: int = Field(description="Texts that wait for their vector.")
    behind_since: Any
    hashes: dict[str, str] | None = Field(None, description="Determinism hash of each WORLD/BRANCH, if asked for.")


@router.get("/memory/objects/{emo_id}/similar", summary="Objects of similar content", response_model=Similar)
async def similar_objects(
    emo_id: UUID, asked: ReadingAsked, k: Amount = 10, threshold: Threshold = 0
) -> dict[str, Any]:
    return _answer(await asked.memory.semantic.similar_objects(*asked.here, emo_id, k, threshold))


@router.get("/memory/objects/{emo_id}/similar-facets", summary="Facets near an object", response_model=Similar)
async def similar_facets(emo_id: UUID, asked: ReadingAsked, k: Amount = 10, threshold: Threshold = 0) -> dict[str, Any]:
    return _answer(await asked.memory.semantic.similar_facets(*asked.here, emo_id, k, threshold))


@router.get("/memory/rationales", summary="Changes made for similar reasons", response_model=Similar)
async def similar_rationales(
    text: Text, asked: ReadingAsked, k: Amount = 10, threshold: Threshold = 0
) -> dict[str, Any]:
    return _answer(await asked.memory.semantic.similar_rationales(*asked.here, text, k, threshold))


@router.get("/memory/status", summary="How far vectors are behind; on request, the hashes", response_model=StatusOut)
async def get_status(
    mnemon: MnemonPart,
    principal: Reader,
    hashes: Annotated[bool, Query(description="Also work out the hashes, which reads every object.")] = False,
) -> dict[str, Any]:
    status = (await mnemon.memory.vectors.status(principal.tenant_id)).as_json()
    if not hashes:
        return status
    found = await mnemon.memory.replay.branch_hashes(principal.tenant_id)
    return status | {"hashes": {name: own.decode() for name, own in found.items()}}


def _answer(found: list[Near]) -> dict[str, Any]:
    return {
        "similar": [
            {
                "kind": one.kind,
                "name": one.name,
                "text": one.text,
                "similarity": one.similarity,
                "object": object_as_json(one.object),
            }
            for one in found
        ]
    }
