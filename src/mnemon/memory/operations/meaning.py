"""What a user may ask of memory by meaning: what is similar, and how far the vectors are behind."""

from datetime import datetime

from pydantic import Field

from mnemon.documents.access import Reader
from mnemon.identity.roles import Action
from mnemon.memory.errors import BranchNotFound
from mnemon.memory.operations.object_inputs import ObjectId, PlaceAsked, Words
from mnemon.memory.operations.object_outputs import FoundObject, fields_of
from mnemon.memory.operations.objects import BY_PROGRAMS, NOT_THERE, ONE, Parts
from mnemon.memory.semantic import MOST, Near
from mnemon.models.failures import EmbedderUnavailable
from mnemon.operations import Caller, Input, Output, operation


class NearAsked(PlaceAsked):
    """How many, and how near."""

    k: int = Field(10, ge=1, le=MOST, description="Most results.")
    threshold: float = Field(0, ge=-1, le=1, description="Least similarity; 1 is the same text.")


class SimilarAsked(NearAsked):
    """What is near an object."""

    emo_id: ObjectId = Field(description="The object's id.")


class RationalesAsked(NearAsked):
    """What was done for a reason like this one."""

    query: Words = Field(description="The reason, in plain words.")


class StatusAsked(Input):
    """How much to work out."""

    hashes: bool = Field(False, description="Also work out the hashes, which reads every object.")


class NearText(Output):
    """A text that is near, and the object that it belongs to."""

    kind: str = Field(description="content, facet or rationale")
    name: str = Field(description="Of a facet; of a rationale, the version it explains.")
    text: str
    similarity: float
    object: FoundObject


class Similar(Output):
    """The nearest texts, best first."""

    similar: list[NearText]


class StatusOut(Output):
    """How far search by meaning is behind."""

    model_id: str | None
    embed_dim: int | None
    vectors: int
    behind: int = Field(description="Texts that wait for their vector.")
    behind_since: datetime | None
    hashes: dict[str, str] | None = Field(description="Determinism hash of each WORLD/BRANCH, if asked for.")


@operation(
    "memory.similar", Action.READ_MEMORY, read_only=True, errors=(*NOT_THERE, EmbedderUnavailable), example=ONE,
    absent=BY_PROGRAMS,
)  # fmt: skip
async def similar(mnemon: Parts, caller: Caller, asked: SimilarAsked) -> Similar:
    """Objects of similar content."""
    here = caller.tenant_id, asked.place(caller)
    return _out(
        await mnemon.memory.semantic.similar_objects(
            *here, asked.emo_id, asked.k, asked.threshold, reader=Reader.of(caller.actor)
        )
    )


@operation(
    "memory.similar_facets", Action.READ_MEMORY, read_only=True, errors=(*NOT_THERE, EmbedderUnavailable),
    example=ONE, absent=BY_PROGRAMS,
)  # fmt: skip
async def similar_facets(mnemon: Parts, caller: Caller, asked: SimilarAsked) -> Similar:
    """Facets near the content of an object."""
    here = caller.tenant_id, asked.place(caller)
    return _out(
        await mnemon.memory.semantic.similar_facets(
            *here, asked.emo_id, asked.k, asked.threshold, reader=Reader.of(caller.actor)
        )
    )


@operation(
    "memory.similar_rationales", Action.READ_MEMORY, read_only=True, errors=(BranchNotFound, EmbedderUnavailable),
    example={"query": "the board decided"}, absent=BY_PROGRAMS,
)  # fmt: skip
async def similar_rationales(mnemon: Parts, caller: Caller, asked: RationalesAsked) -> Similar:
    """Changes that were made for a reason like this one."""
    here = caller.tenant_id, asked.place(caller)
    return _out(
        await mnemon.memory.semantic.similar_rationales(
            *here, asked.query, asked.k, asked.threshold, reader=Reader.of(caller.actor)
        )
    )


@operation("memory.status", Action.READ_MEMORY, read_only=True, example={"hashes": True}, absent=BY_PROGRAMS)
async def status(mnemon: Parts, caller: Caller, asked: StatusAsked) -> StatusOut:
    """How far vectors are behind; on request, the hash of every branch."""
    found = await mnemon.memory.vectors.status(caller.tenant_id)
    hashes = await mnemon.memory.replay.branch_hashes(caller.tenant_id) if asked.hashes else None
    return StatusOut(
        model_id=found.model_id, embed_dim=found.embed_dim, vectors=found.vectors, behind=found.behind,
        behind_since=found.oldest, hashes=hashes and {name: own.decode() for name, own in hashes.items()},
    )  # fmt: skip


def _out(found: list[Near]) -> Similar:
    return Similar(
        similar=[
            NearText(
                kind=one.kind, name=one.name, text=one.text, similarity=one.similarity,
                object=FoundObject(**fields_of(one.object)),
            )
            for one in found
        ]
    )  # fmt: skip
